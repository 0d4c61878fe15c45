"""Facts compared exactly: the numbers, dates and names of a claim against those of its evidence, without a model."""
