// A whole BERT-like encoder in whole numbers, included by native.cpp. Rows are independent, so that a few of them at a time
// go through all layers while their states stay in a core's cache, and threads never wait for each other.

#include <atomic>

namespace {

#if defined(__AVX2__)
#if defined(__AVX512F__)
constexpr int WIDE = 16;
#else
constexpr int WIDE = 8;
#endif
typedef float Wide __attribute__((vector_size(4 * WIDE)));
typedef int32_t WideInts __attribute__((vector_size(4 * WIDE)));

constexpr int64_t GROUP = 144;  // tokens that go through the layers together; a longer row goes alone
constexpr int64_t WORTH_A_THREAD = 512;  // tokens

inline Wide load_wide(const float *from) {
    Wide value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

inline void store_wide(float *to, Wide value) { std::memcpy(to, &value, sizeof value); }

inline Wide wide(float value) { return Wide{} + value; }

inline float sum_of(Wide value) {
    float sum = 0;
    for (int lane = 0; lane < WIDE; lane++) sum += value[lane];
    return sum;
}

// exp for x from −87 to 88: as `exponential`, without its zero below.
inline Wide exp_wide(Wide x) {
    const Wide magic = wide(12582912.0f);
    x = x < -87.0f ? wide(-87.0f) : x;
    const Wide shifted = x * 1.44269504f + magic;
    const Wide n = shifted - magic;
    const Wide r = (x - n * 0x1.62e4p-1f) - n * 1.42860682e-6f;
    Wide sum = wide(1.0f / 720);
    sum = sum * r + 1.0f / 120;
    sum = sum * r + 1.0f / 24;
    sum = sum * r + 1.0f / 6;
    sum = sum * r + 0.5f;
    sum = sum * r + 1.0f;
    sum = sum * r + 1.0f;
    return (Wide)((WideInts)sum + (((WideInts)shifted - (WideInts)magic) << 23));
}

enum Activation { GELU = 0, GELU_TANH = 1, RELU = 2 };

inline Wide activate(Wide x, int kind) {
    if (kind == RELU) return x > 0.0f ? x : Wide{};
    if (kind == GELU_TANH) {  // x (1 + tanh u) / 2 = x / (1 + exp(−2u)), u = √(2/π) (x + 0.044715 x³)
        const Wide u2 = (x + x * x * x * 0.044715f) * 1.5957691216f;
        return x / (exp_wide(u2 < -80.0f ? wide(80.0f) : -u2) + 1.0f);
    }
    // x Φ(x), the tail 1 − erf by Abramowitz and Stegun 7.1.26, whose error is 1.5e-7 at most.
    const Wide z = (x < 0.0f ? -x : x) * 0.70710678f;
    const Wide t = 1.0f / (z * 0.3275911f + 1.0f);
    Wide tail = wide(1.061405429f);
    tail = tail * t - 1.453152027f;
    tail = tail * t + 1.421413741f;
    tail = tail * t - 0.284496736f;
    tail = tail * t + 0.254829592f;
    const Wide half = x * (tail * t * exp_wide(-z * z)) * 0.5f;
    return x > 0.0f ? x - half : half;
}

struct Linear {
    const int16_t *panels;
    const float *scales, *bias;
    int64_t depth, outputs;
};

struct Layer {
    Linear read, write, widen, narrow;  // query, key and value in one; what was read; the two dense maps
    const float *first_weight, *first_bias, *second_weight, *second_bias;  // of the normalisations
};

struct Shape {
    int64_t size, wide, heads, layers;
    int activation;
    float epsilon;
    const float *bias;  // (heads, longest, longest) added to attention, or null
    int64_t longest;
};

// What a thread works in: sized for its longest group, rows in whole blocks.
struct Scratch {
    int64_t tokens;
    std::vector<int16_t> rows;
    std::vector<float> row_scale, three, wide, read, keys, scores;
    Scratch(int64_t most, int64_t longest, const Shape &shape)
        : tokens((most + BLOCK - 1) / BLOCK * BLOCK),
          rows(tokens * (std::max(shape.size, shape.wide) + 1)),
          row_scale(tokens),
          three(tokens * shape.size * 3),
          wide(tokens * shape.wide),
          read(tokens * shape.size) {
        const int64_t padded = (longest + WIDE - 1) / WIDE * WIDE;
        keys.resize(shape.size / shape.heads * padded);
        scores.resize(padded * padded);
    }
};

// y = x Wᵀ + b for the group's rows.
void apply(const Linear &linear, const float *x, int64_t count, float *y, Scratch &scratch) {
    const int64_t pairs = (linear.depth + 1) / 2, stride = pairs * 2;
    int16_t *rows = scratch.rows.data();
    for (int64_t r = 0; r < count; r++) {
        if (linear.depth % 2) rows[(r + 1) * stride - 1] = 0;
        scratch.row_scale[r] = quantize(x + r * linear.depth, linear.depth, rows + r * stride);
    }
    multiply_rows(rows, scratch.row_scale.data(), count, linear.panels, linear.scales, linear.bias, y, linear.depth,
                  linear.outputs);
}

// C (m, n) = A (m, k) · B (k, n); `Rows` rows by `Vectors` vectors of sums at a time.
template <int Rows, int Vectors>
inline void small_block(const float *a, int64_t a_stride, const float *b, int64_t b_stride, float *c, int64_t c_stride,
                        int64_t k) {
    Wide sum[Rows][Vectors] = {};
    for (int64_t p = 0; p < k; p++) {
        Wide right[Vectors];
        for (int v = 0; v < Vectors; v++) right[v] = load_wide(b + p * b_stride + v * WIDE);
        for (int r = 0; r < Rows; r++)
            for (int v = 0; v < Vectors; v++) sum[r][v] += right[v] * a[r * a_stride + p];
    }
    for (int r = 0; r < Rows; r++)
        for (int v = 0; v < Vectors; v++) store_wide(c + r * c_stride + v * WIDE, sum[r][v]);
}

void small_product(const float *a, int64_t a_stride, const float *b, int64_t b_stride, float *c, int64_t c_stride,
                   int64_t m, int64_t n, int64_t k) {
    constexpr int ROWS = WIDE == 16 ? 8 : 4;
    int64_t j = 0;
    for (; j + 2 * WIDE <= n; j += 2 * WIDE) {
        int64_t i = 0;
        for (; i + ROWS <= m; i += ROWS)
            small_block<ROWS, 2>(a + i * a_stride, a_stride, b + j, b_stride, c + i * c_stride + j, c_stride, k);
        for (; i < m; i++)
            small_block<1, 2>(a + i * a_stride, a_stride, b + j, b_stride, c + i * c_stride + j, c_stride, k);
    }
    for (; j + WIDE <= n; j += WIDE) {
        int64_t i = 0;
        for (; i + ROWS <= m; i += ROWS)
            small_block<ROWS, 1>(a + i * a_stride, a_stride, b + j, b_stride, c + i * c_stride + j, c_stride, k);
        for (; i < m; i++)
            small_block<1, 1>(a + i * a_stride, a_stride, b + j, b_stride, c + i * c_stride + j, c_stride, k);
    }
    for (; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            float sum = 0;
            for (int64_t p = 0; p < k; p++) sum += a[i * a_stride + p] * b[p * b_stride + j];
            c[i * c_stride + j] = sum;
        }
}

// softmax(scale · scores + bias) over the first `count` numbers of a row; zero in the rest.
void soften(float *row, const float *bias, int64_t count, int64_t padded, float scale) {
    for (int64_t j = 0; j < count; j++) row[j] = row[j] * scale + (bias ? bias[j] : 0.0f);
    for (int64_t j = count; j < padded; j++) row[j] = -1e30f;
    Wide top = load_wide(row);
    for (int64_t j = WIDE; j < padded; j += WIDE) {
        const Wide x = load_wide(row + j);
        top = x > top ? x : top;
    }
    float most = top[0];
    for (int lane = 1; lane < WIDE; lane++) most = std::max(most, top[lane]);
    Wide total = {};
    for (int64_t j = 0; j < padded; j += WIDE) {
        Wide value = exp_wide(load_wide(row + j) - most);
        if (j + WIDE > count)
            for (int lane = 0; lane < WIDE; lane++) value[lane] = j + lane < count ? value[lane] : 0.0f;
        total += value;
        store_wide(row + j, value);
    }
    const float share = 1.0f / sum_of(total);
    for (int64_t j = 0; j < padded; j += WIDE) store_wide(row + j, load_wide(row + j) * share);
}

// Attention inside one row of `count` tokens: three (count, 3 size) → read (count, size).
void attend(const float *three, int64_t count, float *read, const Shape &shape, Scratch &scratch) {
    const int64_t size = shape.size, each = size / shape.heads, stride = 3 * size;
    const int64_t padded = (count + WIDE - 1) / WIDE * WIDE;
    const float scale = 1.0f / std::sqrt(float(each));
    float *keys = scratch.keys.data(), *scores = scratch.scores.data();
    for (int64_t head = 0; head < shape.heads; head++) {
        const float *query = three + head * each, *key = query + size, *value = key + size;
        for (int64_t c = 0; c < each; c++) {
            for (int64_t j = 0; j < count; j++) keys[c * padded + j] = key[j * stride + c];
            for (int64_t j = count; j < padded; j++) keys[c * padded + j] = 0.0f;
        }
        small_product(query, stride, keys, padded, scores, padded, count, padded, each);
        for (int64_t i = 0; i < count; i++) {
            const float *bias = shape.bias ? shape.bias + (head * shape.longest + i) * shape.longest : nullptr;
            soften(scores + i * padded, bias, count, padded, scale);
        }
        small_product(scores, padded, value, stride, read + head * each, size, count, each, count);
    }
}

// x ← normalise(x + added) · weight + bias, row by row.
void add_and_normalise(float *x, const float *added, int64_t count, int64_t size, const float *weight, const float *bias,
                       float epsilon) {
    const int64_t whole = size / WIDE * WIDE;
    for (int64_t r = 0; r < count; r++) {
        float *row = x + r * size;
        const float *more = added + r * size;
        Wide total = {};
        float rest = 0;
        for (int64_t j = 0; j < whole; j += WIDE) {
            const Wide value = load_wide(row + j) + load_wide(more + j);
            total += value;
            store_wide(row + j, value);
        }
        for (int64_t j = whole; j < size; j++) rest += row[j] += more[j];
        const float mean = (sum_of(total) + rest) / float(size);
        Wide squares = {};
        rest = 0;
        for (int64_t j = 0; j < whole; j += WIDE) {
            const Wide off = load_wide(row + j) - mean;
            squares += off * off;
        }
        for (int64_t j = whole; j < size; j++) rest += (row[j] - mean) * (row[j] - mean);
        const float scale = 1.0f / std::sqrt((sum_of(squares) + rest) / float(size) + epsilon);
        for (int64_t j = 0; j < whole; j += WIDE)
            store_wide(row + j, (load_wide(row + j) - mean) * scale * load_wide(weight + j) + load_wide(bias + j));
        for (int64_t j = whole; j < size; j++) row[j] = (row[j] - mean) * scale * weight[j] + bias[j];
    }
}

void activate_all(float *x, int64_t count, int kind) {
    int64_t i = 0;
    for (; i + WIDE <= count; i += WIDE) store_wide(x + i, activate(load_wide(x + i), kind));
    for (; i < count; i++) x[i] = activate(wide(x[i]), kind)[0];
}

// Some whole rows, end to end, through all layers: x (count, size) in place.
void encode_group(float *x, const int64_t *lengths, int64_t rows, int64_t count, const std::vector<Layer> &layers,
                  const Shape &shape, Scratch &scratch) {
    float *three = scratch.three.data(), *read = scratch.read.data(), *wide = scratch.wide.data();
    for (const Layer &layer : layers) {
        apply(layer.read, x, count, three, scratch);
        for (int64_t row = 0, first = 0; row < rows; first += lengths[row++])
            attend(three + first * 3 * shape.size, lengths[row], read + first * shape.size, shape, scratch);
        apply(layer.write, read, count, three, scratch);
        add_and_normalise(x, three, count, shape.size, layer.first_weight, layer.first_bias, shape.epsilon);
        apply(layer.widen, x, count, wide, scratch);
        activate_all(wide, count * shape.wide, shape.activation);
        apply(layer.narrow, wide, count, read, scratch);
        add_and_normalise(x, read, count, shape.size, layer.second_weight, layer.second_bias, shape.epsilon);
    }
}

struct Group {
    int64_t first_row, rows, first_token, tokens;
};

std::vector<Group> group_rows(const int64_t *lengths, int64_t rows) {
    std::vector<Group> groups;
    for (int64_t row = 0, token = 0; row < rows; token += lengths[row++]) {
        if (groups.empty() || groups.back().tokens + lengths[row] > GROUP) groups.push_back({row, 0, token, 0});
        groups.back().rows++;
        groups.back().tokens += lengths[row];
    }
    return groups;
}
#endif

}  // namespace

extern "C" {

// Embedded tokens of rows laid end to end → their states after all layers, in place: states (Σ lengths, size).
// `parts` has 16 addresses a layer: panels, scales and bias of the four maps, weight and bias of the two normalisations.
void adjudge_encode(float *states, const int64_t *lengths, int64_t rows, const void *const *parts, int64_t layers,
                    int64_t size, int64_t width, int64_t heads, int activation, double epsilon, const float *bias,
                    int64_t longest, int threads) {
#if defined(__AVX2__)
    const Shape shape{size, width, heads, layers, activation, float(epsilon), bias, longest};
    std::vector<Layer> all_layers;
    for (int64_t l = 0; l < layers; l++) {
        const void *const *part = parts + l * 16;
        const auto floats = [=](int i) { return static_cast<const float *>(part[i]); };
        const auto linear = [=](int i, int64_t depth, int64_t outputs) {
            return Linear{static_cast<const int16_t *>(part[3 * i]), floats(3 * i + 1), floats(3 * i + 2), depth, outputs};
        };
        all_layers.push_back({linear(0, size, 3 * size), linear(1, size, size), linear(2, size, width),
                              linear(3, width, size), floats(12), floats(13), floats(14), floats(15)});
    }
    const std::vector<Group> groups = group_rows(lengths, rows);
    int64_t tokens = 0, most = 0, longest_row = 0;
    for (const Group &group : groups) tokens += group.tokens, most = std::max(most, group.tokens);
    for (int64_t row = 0; row < rows; row++) longest_row = std::max(longest_row, lengths[row]);
    std::atomic<size_t> next{0};
    const auto work = [&] {
        Scratch scratch(most, longest_row, shape);
        for (size_t i; (i = next++) < groups.size();) {
            const Group &group = groups[i];
            encode_group(states + group.first_token * size, lengths + group.first_row, group.rows, group.tokens,
                         all_layers, shape, scratch);
        }
    };
    // Threads that end with the work, rather than wait for more of it on a core that others could use.
    const int64_t team = std::min<int64_t>({threads, tokens / WORTH_A_THREAD, int64_t(groups.size())});
    std::vector<std::thread> others;
    for (int64_t i = 1; i < team; i++) others.emplace_back(work);
    work();
    for (auto &other : others) other.join();
#endif
}
}
