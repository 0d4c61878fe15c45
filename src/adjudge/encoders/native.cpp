// The inner loops that PyTorch has no fast form of, for one machine: native.py builds this file where it is used.
//
// Plain C interface, dense row-major arrays. Every row is computed by itself, so that results do not depend on the
// number of threads.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace {

constexpr int LANES = 8;
constexpr int64_t WORTH_SHARING = 200000;  // operations; what is less takes a thread less time than to wake another
typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef int32_t Ints __attribute__((vector_size(4 * LANES)));
typedef uint32_t Words __attribute__((vector_size(4 * LANES)));

// work(from, to) for shares of the rows. With OpenMP on the threads of PyTorch, which spin for a while after its own
// work and would be in the way of others.
template <typename Work>
void in_parallel(int64_t rows, int64_t cost, int threads, const Work &work) {
    const int64_t parts = cost < WORTH_SHARING ? 1 : std::min<int64_t>(threads, rows);
    const int64_t share = (rows + parts - 1) / std::max<int64_t>(1, parts);
    if (parts <= 1) return work(0, rows);
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int64_t start = 0; start < rows; start += share) work(start, std::min(rows, start + share));
#else
    std::vector<std::thread> others;
    for (int64_t start = share; start < rows; start += share)
        others.emplace_back([&, start] { work(start, std::min(rows, start + share)); });
    work(0, share);
    for (auto &other : others) other.join();
#endif
}

inline Floats load(const float *from) {
    Floats value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

inline Floats all(float value) { return Floats{} + value; }

// exp for x up to 88: 2^n · exp(r) with |r| ≤ ln 2 / 2, Taylor to the seventh power (error 5e-9); 0 below −87.
inline Floats exponential(Floats x) {
    const Floats magic = all(12582912.0f);  // 1.5 · 2^23: adding it rounds to a whole number in the low bits
    const Floats bounded = x < -87.0f ? all(-87.0f) : x;
    const Floats shifted = bounded * 1.44269504f + magic;
    const Floats n = shifted - magic;
    const Floats r = (bounded - n * 0x1.62e4p-1f) - n * 1.42860682e-6f;  // ln 2 in two parts, the first exact
    Floats sum = all(1.0f / 5040);
    sum = sum * r + 1.0f / 720;
    sum = sum * r + 1.0f / 120;
    sum = sum * r + 1.0f / 24;
    sum = sum * r + 1.0f / 6;
    sum = sum * r + 0.5f;
    sum = sum * r + 1.0f;
    sum = sum * r + 1.0f;
    const Ints power = ((Ints)shifted - (Ints)magic) << 23;
    const Floats scaled = (Floats)((Ints)sum + power);
    return x < -87.0f ? Floats{} : scaled;
}

// The kernel grid of kernels.py: exact match, then 20 soft kernels whose σ is their spacing.
constexpr int KERNELS = 21;
constexpr int REACH = 2;  // kernels on either side of an anchor that follow from it
constexpr float SPACING = 0.1f;
constexpr float EXACT = -0.5e6f;  // −1 / 2σ² at σ = 1e-3
constexpr float FAR = 3.0f;       // here every kernel is zero in single precision

// Every fifth soft kernel is an anchor: its neighbours are the same but for exp(±x / δ) and a constant, the factor.
inline int anchor(int k) { return (k - 1) / (2 * REACH + 1) * (2 * REACH + 1) + REACH + 1; }

struct Grid {
    float mean[KERNELS];
    float factor[KERNELS];
    Grid() {
        const auto mu = [](int k) { return k ? 0.95 - 0.1 * (k - 1) : 1.0; };
        for (int k = 0; k < KERNELS; k++) {
            const double from = k ? mu(anchor(k)) : 1.0;
            mean[k] = float(mu(k));
            factor[k] = float(std::exp((from * from - mu(k) * mu(k)) / 0.02));
        }
    }
};
const Grid grid;

// Calls use(k, values) for every kernel, without its factor.
template <typename Use>
inline void each_kernel(Floats x, const Use &use) {
    const Floats from_one = x - 1.0f;
    use(0, exponential(from_one * from_one * EXACT));
    const Floats up = exponential(x * (1.0f / SPACING)), down = 1.0f / up;
    for (int k = anchor(1); k < KERNELS; k += 2 * REACH + 1) {
        const Floats from_mean = x - grid.mean[k];
        const Floats start = exponential(from_mean * from_mean * (-0.5f / (SPACING * SPACING)));
        Floats above = start, below = start;
        use(k, start);
        for (int step = 1; step <= REACH; step++) {
            use(k - step, above *= up);
            use(k + step, below *= down);
        }
    }
}

// The values of a row that the mask keeps, filled up to whole vectors; `place` says where each stood.
struct Kept {
    std::vector<float> values;
    std::vector<int32_t> place;
    int64_t count = 0;
    explicit Kept(int64_t columns) : values(columns + LANES), place(columns + LANES) {}
    void read(const float *row, const uint8_t *mask, int64_t columns) {
        count = 0;
        for (int64_t j = 0; j < columns; j++) {
            values[count] = std::min(std::max(row[j], -FAR), FAR);
            place[count] = int32_t(j);
            count += mask[j] != 0;
        }
        for (int64_t j = count; j < count + LANES; j++) values[j] = FAR;
    }
};

void pool_rows(const float *similarity, const uint8_t *mask, float *pooled, int64_t columns, int64_t from, int64_t to) {
    Kept kept(columns);
    for (int64_t row = from; row < to; row++) {
        float *out = pooled + row * KERNELS;
        kept.read(similarity + row * columns, mask + row * columns, columns);
        Floats sums[KERNELS] = {};
        for (int64_t j = 0; j < kept.count; j += LANES)
            each_kernel(load(&kept.values[j]), [&](int k, Floats values) { sums[k] += values; });
        for (int k = 0; k < KERNELS; k++) {
            float total = 0;
            for (int lane = 0; lane < LANES; lane++) total += sums[k][lane];
            out[k] = total * grid.factor[k];
        }
    }
}

void pool_rows_backward(const float *similarity, const uint8_t *mask, const float *gradient, float *result,
                        int64_t columns, int64_t from, int64_t to) {
    Kept kept(columns);
    for (int64_t row = from; row < to; row++) {
        float *out = result + row * columns;
        std::memset(out, 0, sizeof(float) * columns);
        kept.read(similarity + row * columns, mask + row * columns, columns);
        float weight[KERNELS];
        for (int k = 0; k < KERNELS; k++)
            weight[k] = gradient[row * KERNELS + k] * grid.factor[k] * (k ? 1 / (SPACING * SPACING) : 1e6f);
        for (int64_t j = 0; j < kept.count; j += LANES) {
            const Floats x = load(&kept.values[j]);
            Floats sum = {};
            // d/dM exp(−(M − μ)² / 2σ²) = (μ − M) / σ² · exp(…)
            each_kernel(x, [&](int k, Floats values) { sum += values * ((grid.mean[k] - x) * weight[k]); });
            const int64_t lanes = std::min<int64_t>(LANES, kept.count - j);
            for (int64_t lane = 0; lane < lanes; lane++) out[kept.place[j + lane]] = sum[lane];
        }
    }
}

#if defined(__AVX2__)
// Whole-number products: y = x Wᵀ + b, x rounded to 12 bits for each row, W as quantised.py gives it: both in 16 bits, as
// `madd` takes them, and no larger than its 32-bit sums can hold.
constexpr int PANEL = 16;  // outputs of one panel of W
#if defined(__AVX512VNNI__)
constexpr int BLOCK = 12, PANELS = 2;  // rows and panels at a time: 12 × 2 vectors of sixteen sums stay in registers
#else
constexpr int BLOCK = 4, PANELS = 1;  // 4 × 2 vectors of eight
#endif
constexpr int CHUNK = 96;  // rows that stay in a core's cache while all panels pass
constexpr float ROW_MAX = 2047.0f;  // INPUT_MAX of quantised.py

float quantize(const float *row, int64_t depth, int16_t *out) {
    Floats largest = {};
    int64_t j = 0;
    for (; j + LANES <= depth; j += LANES) {
        const Floats x = load(row + j), size = x < 0.0f ? -x : x;
        largest = size > largest ? size : largest;
    }
    float most = 0;
    for (int lane = 0; lane < LANES; lane++) most = std::max(most, largest[lane]);
    for (; j < depth; j++) most = std::max(most, std::fabs(row[j]));
    const float scale = most > 0 ? ROW_MAX / most : 0.0f;
    for (j = 0; j < depth; j++) {  // 1.5 · 2^23, as above: the low bits are the whole number
        const float shifted = row[j] * scale + 12582912.0f;
        int32_t bits;
        std::memcpy(&bits, &shifted, sizeof bits);
        out[j] = int16_t(bits);
    }
    return most / ROW_MAX;
}

#if defined(__AVX512VNNI__)
// Twelve rows with `Count` panels, which lie `next` numbers apart: sums (row, panel, output).
template <int Count>
inline void multiply(const int16_t *rows, int64_t stride, const int16_t *panel, int64_t next, int64_t pairs,
                     int32_t *sums) {
    __m512i sum[BLOCK][Count];
    for (auto &of_row : sum)
        for (auto &one : of_row) one = _mm512_setzero_si512();
    for (int64_t p = 0; p < pairs; p++) {
        __m512i weights[Count];
#pragma GCC unroll 2
        for (int c = 0; c < Count; c++) weights[c] = _mm512_loadu_si512(panel + c * next + p * PANEL * 2);
#pragma GCC unroll 12
        for (int r = 0; r < BLOCK; r++) {
            int32_t two;
            std::memcpy(&two, rows + r * stride + p * 2, sizeof two);
            const __m512i x = _mm512_set1_epi32(two);
#pragma GCC unroll 2
            for (int c = 0; c < Count; c++) sum[r][c] = _mm512_dpwssd_epi32(sum[r][c], x, weights[c]);
        }
    }
#pragma GCC unroll 12
    for (int r = 0; r < BLOCK; r++)
#pragma GCC unroll 2
        for (int c = 0; c < Count; c++) _mm512_storeu_si512(sums + (r * Count + c) * PANEL, sum[r][c]);
}
#else
// Four rows with one panel; each sum has a name, since compilers keep arrays of them in memory.
template <int Count>
inline void multiply(const int16_t *rows, int64_t stride, const int16_t *panel, int64_t, int64_t pairs, int32_t *sums) {
    const auto pair = [=](int64_t row, int64_t p) {
        int32_t two;
        std::memcpy(&two, rows + row * stride + p * 2, sizeof two);
        return _mm256_set1_epi32(two);
    };
    const auto add = [](__m256i &sum, __m256i x, __m256i w) { sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, w)); };
    __m256i a0 = _mm256_setzero_si256(), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    for (int64_t p = 0; p < pairs; p++) {
        const __m256i *weights = reinterpret_cast<const __m256i *>(panel + p * PANEL * 2);
        // `lddqu` is loaded once; what `loadu` gives, compilers would load again for every row.
        const __m256i a = _mm256_lddqu_si256(weights), b = _mm256_lddqu_si256(weights + 1);
        const __m256i x0 = pair(0, p), x1 = pair(1, p), x2 = pair(2, p), x3 = pair(3, p);
        add(a0, x0, a), add(b0, x0, b);
        add(a1, x1, a), add(b1, x1, b);
        add(a2, x2, a), add(b2, x2, b);
        add(a3, x3, a), add(b3, x3, b);
    }
    __m256i *out = reinterpret_cast<__m256i *>(sums);
    _mm256_storeu_si256(out + 0, a0), _mm256_storeu_si256(out + 1, b0);
    _mm256_storeu_si256(out + 2, a1), _mm256_storeu_si256(out + 3, b1);
    _mm256_storeu_si256(out + 4, a2), _mm256_storeu_si256(out + 5, b2);
    _mm256_storeu_si256(out + 6, a3), _mm256_storeu_si256(out + 7, b3);
}
#endif

// y (count, outputs) of rows that are whole numbers already; `rows` has room for whole blocks of them.
void multiply_rows(const int16_t *rows, const float *row_scale, int64_t count, const int16_t *panels, const float *scales,
                   const float *bias, float *y, int64_t depth, int64_t outputs) {
    const int64_t pairs = (depth + 1) / 2, stride = pairs * 2;
    int32_t sums[BLOCK * PANELS * PANEL];
    for (int64_t first = 0; first < outputs; first += PANELS * PANEL) {
        const int16_t *panel = panels + first * stride;
        const int64_t width = std::min<int64_t>(PANELS * PANEL, outputs - first);
        const bool whole = width > (PANELS - 1) * PANEL;  // there is a last panel
        const int64_t across = whole ? PANELS * PANEL : PANEL;
        for (int64_t r = 0; r < count; r += BLOCK) {
            const int64_t height = std::min<int64_t>(BLOCK, count - r);
            if (whole)
                multiply<PANELS>(rows + r * stride, stride, panel, PANEL * stride, pairs, sums);
            else
                multiply<1>(rows + r * stride, stride, panel, PANEL * stride, pairs, sums);
            for (int64_t i = 0; i < height; i++) {
                float *out = y + (r + i) * outputs + first;
                for (int64_t o = 0; o < width; o++)
                    out[o] = float(sums[i * across + o]) * (row_scale[r + i] * scales[first + o]) + bias[first + o];
            }
        }
    }
}

void linear_rows(const float *x, const int16_t *panels, const float *scales, const float *bias, float *y, int64_t depth,
                 int64_t outputs, int64_t from, int64_t to) {
    const int64_t stride = (depth + 1) / 2 * 2;
    std::vector<int16_t> rows(CHUNK * stride);  // an odd last column stays 0
    float row_scale[CHUNK];
    for (int64_t start = from; start < to; start += CHUNK) {
        const int64_t count = std::min<int64_t>(CHUNK, to - start);
        for (int64_t r = 0; r < count; r++)
            row_scale[r] = quantize(x + (start + r) * depth, depth, &rows[r * stride]);
        multiply_rows(rows.data(), row_scale, count, panels, scales, bias, y + start * outputs, depth, outputs);
    }
}
#endif

}  // namespace

#include "native_encoder.h"

extern "C" {

// Σ_j m_j exp(−(M_ij − μ_k)² / 2σ_k²): similarity, mask (rows, columns) → pooled (rows, 21).
void adjudge_pool(const float *similarity, const uint8_t *mask, float *pooled, int64_t rows, int64_t columns,
                  int threads) {
    in_parallel(rows, rows * columns * KERNELS, threads, [=](int64_t from, int64_t to) {
        pool_rows(similarity, mask, pooled, columns, from, to);
    });
}

// The gradient of the above: gradient (rows, 21) → result (rows, columns).
void adjudge_pool_backward(const float *similarity, const uint8_t *mask, const float *gradient, float *result,
                           int64_t rows, int64_t columns, int threads) {
    in_parallel(rows, rows * columns * KERNELS, threads, [=](int64_t from, int64_t to) {
        pool_rows_backward(similarity, mask, gradient, result, columns, from, to);
    });
}

// Each number becomes 0 with probability `share`, else it is divided by 1 − share. Which ones, a hash of seed and place
// decides: the steps of MurmurHash3's last mix, the halves of the seed added at different ones.
void adjudge_dropout(const float *x, float *result, int64_t count, uint64_t seed, double share, int threads) {
    const uint32_t low = uint32_t(seed), high = uint32_t(seed >> 32);
    const uint32_t dropped = uint32_t(share * 4294967296.0);
    const float scale = float(1 / (1 - share));
    in_parallel(count, count, threads, [=](int64_t from, int64_t to) {
        const auto keep = [=](int64_t i, Floats values) {
            Words h = (Words{0, 1, 2, 3, 4, 5, 6, 7} + uint32_t(i)) * 0x9e3779b9u + low;
            h ^= h >> 16, h *= 0x85ebca6bu, h ^= high;
            h ^= h >> 13, h *= 0xc2b2ae35u;
            h ^= h >> 16;
            return h < dropped ? Floats{} : values * scale;
        };
        int64_t i = from;
        for (; i + LANES <= to; i += LANES) {
            const Floats kept = keep(i, load(x + i));
            std::memcpy(result + i, &kept, sizeof kept);
        }
        for (; i < to; i++) result[i] = keep(i, all(x[i]))[0];
    });
}

// Whether whole-number products are worth it: AVX2 has them at twice the rate of float products, and so has AVX-512 with
// VNNI; without it the wider vectors serve floats better than this code.
int adjudge_prefers_int16() {
#if defined(__AVX512VNNI__) || (defined(__AVX2__) && !defined(__AVX512F__))
    return 1;
#else
    return 0;
#endif
}

int adjudge_has_int16() {
#if defined(__AVX2__)
    return 1;
#else
    return 0;
#endif
}

// y = x Wᵀ + b: x (rows, depth); panels of W as quantised.py lays them out; scales, bias (outputs,); y (rows, outputs).
void adjudge_linear(const float *x, const int16_t *panels, const float *scales, const float *bias, float *y,
                    int64_t rows, int64_t depth, int64_t outputs, int threads) {
#if defined(__AVX2__)
    in_parallel(rows, rows * depth * outputs / 8, threads, [=](int64_t from, int64_t to) {
        linear_rows(x, panels, scales, bias, y, depth, outputs, from, to);
    });
#endif
}

// Whether half_products is there: half-precision numbers need an instruction of their own.
int adjudge_has_half() {
#if defined(__AVX2__) && defined(__F16C__) && defined(__FMA__)
    return 1;
#else
    return 0;
#endif
}

// result = rows · query, summed in single precision: rows (count, depth) of half precision, query (depth,); the depth a
// multiple of 16.
void adjudge_half_products(const uint16_t *rows, const float *query, float *result, int64_t count, int64_t depth,
                           int threads) {
#if defined(__AVX2__) && defined(__F16C__) && defined(__FMA__)
    in_parallel(count, count * depth, threads, [=](int64_t from, int64_t to) {
        for (int64_t row = from; row < to; row++) {
            const uint16_t *x = rows + row * depth;
            __m256 a = _mm256_setzero_ps(), b = a;
            for (int64_t j = 0; j < depth; j += 16) {
                const __m128i *halves = reinterpret_cast<const __m128i *>(x + j);
                a = _mm256_fmadd_ps(_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_loadu_ps(query + j), a);
                b = _mm256_fmadd_ps(_mm256_cvtph_ps(_mm_loadu_si128(halves + 1)), _mm256_loadu_ps(query + j + 8), b);
            }
            float sums[8], sum = 0;
            _mm256_storeu_ps(sums, _mm256_add_ps(a, b));
            for (float part : sums) sum += part;
            result[row] = sum;
        }
    });
#endif
}

// The rows of codes (count, words) that differ from a query (words,) in the fewest bits: at least `wanted` of them if
// there are as many, those of equal distance together, at most `room`. Returns how many stand in `nearest`, ascending.
int64_t adjudge_nearest_codes(const uint64_t *codes, const uint64_t *query, int64_t *nearest, int64_t count, int64_t words,
                              int64_t wanted, int64_t room, int threads) {
    std::vector<uint16_t> distance(count);
    uint16_t *distances = distance.data();
    in_parallel(count, count * words * 4, threads, [=](int64_t from, int64_t to) {
        for (int64_t row = from; row < to; row++) {
            int bits = 0;
            for (int64_t word = 0; word < words; word++)
                bits += __builtin_popcountll(codes[row * words + word] ^ query[word]);
            distances[row] = uint16_t(bits);
        }
    });
    std::vector<int64_t> rows_at(words * 64 + 1);
    for (int64_t row = 0; row < count; row++) rows_at[distances[row]]++;
    int64_t limit = 0, sum = rows_at[0];
    while (sum < wanted && limit < words * 64) sum += rows_at[++limit];
    int64_t found = 0;
    for (int64_t row = 0; row < count && found < room; row++)
        if (distances[row] <= limit) nearest[found++] = row;
    return found;
}
}
