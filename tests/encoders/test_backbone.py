from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import (
    AlbertConfig,
    AlbertModel,
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5Model,
)

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import Batch
from adjudge.errors import ConfigError
from batches import LENGTHS, batch_of

SMALL = {"vocab_size": 200, "num_hidden_layers": 3, "num_attention_heads": 2, "max_position_embeddings": 80}


def bert() -> BertModel:
    return BertModel(BertConfig(hidden_size=16, intermediate_size=32, **SMALL))


def roberta() -> RobertaModel:
    return RobertaModel(
        RobertaConfig(hidden_size=16, intermediate_size=32, type_vocab_size=1, pad_token_id=1, **SMALL)
    )


def mpnet() -> MPNetModel:
    encoder = MPNetModel(MPNetConfig(hidden_size=16, intermediate_size=32, pad_token_id=1, **SMALL))
    torch.nn.init.normal_(
        encoder.encoder.relative_attention_bias.weight
    )  # as large as the scores it is added to
    return encoder


def distilbert() -> DistilBertModel:
    return DistilBertModel(
        DistilBertConfig(
            vocab_size=200, dim=16, hidden_dim=32, n_layers=3, n_heads=2, max_position_embeddings=80
        )
    )


def albert() -> AlbertModel:
    return AlbertModel(AlbertConfig(hidden_size=16, embedding_size=8, intermediate_size=32, **SMALL))


FAMILIES = {"bert": bert, "roberta": roberta, "mpnet": mpnet, "distilbert": distilbert, "albert": albert}


def plain(encoder: Any, batch: Batch, segments: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The Hugging Face way: one padded batch with an attention mask."""
    longest = batch.input_ids.shape[1]
    mask = torch.tensor([[int(i < n) for i in range(longest)] for n in batch.lengths.tolist()])
    inputs = {"input_ids": batch.input_ids, "attention_mask": mask}
    if segments:
        pairs = zip(batch.lengths.tolist(), batch.segment.tolist(), strict=True)
        inputs["token_type_ids"] = torch.tensor([[int(s <= i < n) for i in range(longest)] for n, s in pairs])
    output = encoder(**inputs)
    pooled = getattr(output, "pooler_output", None)
    states = output.last_hidden_state
    return states, states[:, 0] if pooled is None else pooled


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make(family: str) -> Any:
    torch.manual_seed(0)
    return FAMILIES[family]().eval()


def test_rows_encoded_in_groups_equal_one_padded_batch(family: str):
    encoder = make(family)
    backbone = Backbone(encoder).eval()
    batch = batch_of(LENGTHS, pad=encoder.config.pad_token_id)
    encoded = backbone(batch)
    states, pooled = plain(encoder, batch, segments=family in ("bert", "albert"))
    assert encoded.states.shape == (len(LENGTHS), max(LENGTHS), 16)
    torch.testing.assert_close(encoded.pooled, pooled, atol=1e-5, rtol=0)
    for row, length in enumerate(LENGTHS):
        torch.testing.assert_close(encoded.states[row, :length], states[row, :length], atol=1e-5, rtol=0)


def test_gradients_equal_those_of_one_padded_batch(family: str):
    encoder = make(family)
    batch = batch_of(LENGTHS, pad=encoder.config.pad_token_id)
    Backbone(encoder).eval()(batch).pooled.square().sum().backward()
    ours = {name: p.grad for name, p in encoder.named_parameters()}
    encoder.zero_grad(set_to_none=True)
    plain(encoder, batch, segments=family in ("bert", "albert"))[1].square().sum().backward()
    for name, parameter in encoder.named_parameters():
        torch.testing.assert_close(ours[name], parameter.grad, atol=1e-4, rtol=1e-4, msg=name)


def test_segments_are_embedded_where_the_encoder_has_them(family: str):
    backbone = Backbone(make(family)).eval()
    batch = batch_of(LENGTHS, pad=1)
    moved = backbone(replace(batch, segment=batch.segment - 1)).pooled
    changes = not torch.equal(moved, backbone(batch).pooled)
    assert changes == backbone.has_segments == (family in ("bert", "albert"))


def test_eager_attention_gives_the_same_states():
    encoder = make("bert")
    batch = batch_of(LENGTHS, pad=0)
    expected = Backbone(encoder).eval()(batch).pooled
    encoder.set_attn_implementation("eager")
    torch.testing.assert_close(Backbone(encoder).eval()(batch).pooled, expected, atol=1e-5, rtol=0)


def test_a_row_of_padding_that_is_attended_equals_an_unmasked_forward():
    """The empty rows of the published code."""
    encoder = make("bert")
    batch = batch_of([5, 24], pad=0)
    batch = replace(
        batch, input_ids=batch.input_ids * torch.tensor([[1], [0]]), segment=torch.tensor([3, 24])
    )
    expected = encoder(input_ids=torch.zeros(1, 24, dtype=torch.long)).pooler_output[0]
    torch.testing.assert_close(Backbone(encoder).eval()(batch).pooled[1], expected, atol=1e-6, rtol=0)


def test_an_encoder_without_a_pooler_gives_its_first_token():
    torch.manual_seed(0)
    encoder = BertModel(bert().config, add_pooling_layer=False).eval()
    encoded = Backbone(encoder)(batch_of([4, 9], pad=0))
    assert torch.equal(encoded.pooled, encoded.states[:, 0])


@pytest.mark.parametrize("name", ["bert", "roberta", "mpnet"])
def test_frozen_layers_get_no_gradient_and_the_others_do(name: str):
    backbone = Backbone(make(name), frozen=2).train()
    backbone(batch_of(LENGTHS, pad=1)).pooled.sum().backward()
    for parameter_name, parameter in backbone.named_parameters():
        frozen = any(
            part in parameter_name for part in ("embeddings.", "attention_bias", "layer.0.", "layer.1.")
        )
        assert parameter.requires_grad != frozen, parameter_name
        assert (parameter.grad is None) == frozen, parameter_name


def test_frozen_layers_stay_in_eval_mode_when_the_rest_trains():
    backbone = Backbone(make("bert"), frozen=2)
    backbone.train()
    batch = batch_of(LENGTHS, pad=0)
    assert not backbone.encoder.embeddings.training
    assert [layer.training for layer in backbone.encoder.encoder.layer] == [False, False, True]
    assert torch.equal(backbone.lower(batch), backbone.lower(batch))  # no dropout below
    assert not torch.equal(backbone(batch).pooled, backbone(batch).pooled)  # dropout above
    backbone.eval()
    assert torch.equal(backbone(batch).pooled, backbone(batch).pooled)


def test_an_unfrozen_backbone_trains_every_layer():
    backbone = Backbone(make("bert")).train()
    assert all(module.training for module in backbone.modules())
    assert all(parameter.requires_grad for parameter in backbone.parameters())


@pytest.mark.parametrize("name", ["bert", "roberta", "mpnet"])
@pytest.mark.parametrize("frozen", [1, 3])
def test_cached_states_give_what_the_layers_give(name: str, frozen: int):
    encoder = make(name)
    backbone = Backbone(encoder, frozen=frozen).eval()
    batch = batch_of(LENGTHS, pad=encoder.config.pad_token_id)
    lower = backbone.lower(batch)
    exact = backbone(replace(batch, states=lower))
    halved = backbone(replace(batch, states=lower.half()))
    uncached = backbone(batch)
    torch.testing.assert_close(exact.pooled, uncached.pooled, atol=1e-6, rtol=0)
    # Half precision keeps 11 bits: 2^-11 relative, of states near 1.
    torch.testing.assert_close(halved.pooled, uncached.pooled, atol=2e-3, rtol=0)
    assert not torch.equal(halved.pooled, uncached.pooled)


def test_cached_states_are_what_is_read():
    backbone = Backbone(make("bert"), frozen=1).eval()
    batch = batch_of([6], pad=0)
    other = replace(batch, states=-backbone.lower(batch))
    assert not torch.allclose(backbone(other).pooled, backbone(batch).pooled, atol=1e-3)


@pytest.mark.parametrize("frozen", [4, -1])
def test_freezing_more_layers_than_there_are_is_refused(frozen: int):
    with pytest.raises(ConfigError, match=f"freeze_layers is {frozen}, but it has 3 layers"):
        Backbone(make("bert"), frozen=frozen)


def test_freezing_a_family_whose_layers_are_unknown_is_refused():
    with pytest.raises(ConfigError, match="freeze_layers is 1, but its layers are not reachable"):
        Backbone(make("distilbert"), frozen=1)


def test_an_encoder_decoder_is_refused():
    tiny = T5Config(vocab_size=50, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    with pytest.raises(ConfigError, match="'t5' is not a text encoder"):
        Backbone(T5Model(tiny))


@pytest.mark.parametrize(
    ("name", "longest"), [("bert", 80), ("roberta", 78), ("mpnet", 78), ("distilbert", 80)]
)
def test_the_longest_row_counts_the_positions_that_roberta_keeps_for_padding(name: str, longest: int):
    backbone = Backbone(make(name)).eval()
    assert backbone.max_length == longest
    backbone(batch_of([longest], pad=1))
    with pytest.raises((IndexError, RuntimeError)):
        backbone(batch_of([longest + 1], pad=1))


@pytest.mark.parametrize("name", FAMILIES)
def test_mean_pooling_averages_the_tokens_of_each_row(name: str):
    lengths = [3, 17, 8]
    batch = batch_of(lengths, pad=1)
    encoded = Backbone(make(name), pooling="mean").eval()(batch)
    for row, length in enumerate(lengths):
        expected = encoded.states[row, :length].mean(dim=0)
        torch.testing.assert_close(encoded.pooled[row], expected, atol=1e-6, rtol=1e-5)


def test_mean_pooling_trains_no_pooler():
    backbone = Backbone(make("bert"), pooling="mean")
    backbone(batch_of([4, 9], pad=0)).pooled.square().sum().backward()
    assert not any(p.requires_grad for p in backbone.encoder.pooler.parameters())
    assert all(p.grad is not None for p in backbone.parameters() if p.requires_grad)


def test_frozen_embeddings_leave_positions_and_layers_to_train():
    backbone = Backbone(make("bert"))
    backbone.freeze_embeddings()
    frozen = [name for name, p in backbone.named_parameters() if not p.requires_grad]
    assert frozen == ["encoder.embeddings.word_embeddings.weight"]


@pytest.mark.parametrize("name", ["bert", "mpnet"])
def test_adapters_begin_as_the_encoder_and_alone_are_trained_of_its_matrices(name: str):
    encoder = make(name)
    batch = batch_of(LENGTHS, pad=1)
    expected = Backbone(encoder).eval()(batch).pooled.detach()
    backbone = Backbone(encoder, adapters=2).eval()
    torch.testing.assert_close(backbone(batch).pooled, expected, atol=1e-6, rtol=0)
    backbone(batch).pooled.sum().backward()
    for parameter_name, parameter in backbone.named_parameters():
        in_layer = "encoder.layer." in parameter_name
        is_matrix = parameter.ndim == 2 and not parameter_name.endswith((".up", ".down"))
        trained = "pooler" in parameter_name or (in_layer and not is_matrix)
        assert parameter.requires_grad == trained, parameter_name


def test_adapters_need_all_layers_of_a_known_family():
    with pytest.raises(ConfigError, match="model.adapters is 2, but freeze_layers is 1"):
        Backbone(make("bert"), frozen=1, adapters=2)
    with pytest.raises(ConfigError, match="model.adapters is 2, but its layers are not reachable"):
        Backbone(make("distilbert"), adapters=2)
