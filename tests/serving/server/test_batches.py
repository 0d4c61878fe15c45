"""Many coroutines, a few of them under way."""

from __future__ import annotations

import asyncio

import pytest

from adjudge.serving.server.batches import results_in_order


@pytest.mark.parametrize("most", [1, 2, 9])
def test_results_keep_the_order_of_the_coroutines_and_few_are_under_way(most: int) -> None:
    under_way: list[int] = []
    peak = 0

    async def answer(number: int) -> int:
        nonlocal peak
        under_way.append(number)
        peak = max(peak, len(under_way))
        for _ in range(5 - number):  # the first takes longest
            await asyncio.sleep(0)
        under_way.remove(number)
        return number

    async def collect() -> list[int]:
        return [result async for result in results_in_order(map(answer, range(5)), most)]

    assert asyncio.run(collect()) == [0, 1, 2, 3, 4]
    assert peak == min(most, 5)


def test_who_stops_early_cancels_what_is_under_way() -> None:
    cancelled: list[int] = []

    async def answer(number: int) -> int:
        try:
            await asyncio.sleep(0 if number == 0 else 60)
        except asyncio.CancelledError:
            cancelled.append(number)
            raise
        return number

    async def stop_after_one() -> None:
        results = results_in_order(map(answer, range(9)), 3)
        assert await anext(results) == 0
        await results.aclose()
        await asyncio.sleep(0)

    asyncio.run(stop_after_one())
    assert cancelled == [1, 2]
