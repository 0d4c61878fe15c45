from __future__ import annotations

from types import ModuleType

import pytest
import torch

from adjudge.encoders import precision as module
from adjudge.encoders import quantised
from adjudge.encoders.precision import set_precision
from adjudge.encoders.quantised import Int16Linear, is_faster
from adjudge.errors import ConfigError
from adjudge.judges.predict import log_probabilities


def quantized(model) -> int:
    return sum(isinstance(part, Int16Linear) for part in model.module.modules())


def test_fp32_changes_nothing(tiny: ModuleType):
    model = tiny.make_model()
    assert set_precision(model.module, "fp32") == "fp32"
    assert quantized(model) == 0


@pytest.mark.skipif(not is_faster(), reason="int16 is not faster on this processor, or cannot be built")
def test_int16_and_auto_keep_the_verdicts(tiny: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(quantised, "WORTH", 1)  # the tiny encoder's layers are too small to be worth it
    exact = tiny.make_model()
    exact.module.eval()
    data, _ = tiny.data_for(exact)
    expected = log_probabilities(exact, data)
    for precision in ("int16", "auto"):
        model = tiny.make_model()
        model.module.eval()
        assert set_precision(model.module, precision) == "int16"
        assert quantized(model) == 2 * 6 + 1  # six to a layer, and the pooler
        found = log_probabilities(model, data)
        torch.testing.assert_close(found, expected, atol=5e-3, rtol=0)
        assert not torch.equal(found, expected)


def test_where_it_is_no_gain_auto_is_fp32(tiny: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "is_faster", lambda: False)
    model = tiny.make_model()
    assert set_precision(model.module, "auto") == "fp32" and quantized(model) == 0


def test_an_unknown_precision_and_int16_on_another_device_are_refused(tiny: ModuleType):
    with pytest.raises(ConfigError, match="precision 'int4' is not one of auto, fp32, int16"):
        set_precision(tiny.make_model().module, "int4")
    model = tiny.make_model()
    model.module.to("meta")
    with pytest.raises(ConfigError, match="int16 is for the CPU, the model is on meta"):
        set_precision(model.module, "int16")
