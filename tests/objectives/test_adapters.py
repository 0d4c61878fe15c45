"""The objectives in other people's loops; the blocks of docs/objectives.md are run as they stand."""

from __future__ import annotations

import copy
import doctest
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from sentence_transformers.cross_encoder import CrossEncoder
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import nn
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
)

from adjudge.errors import ConfigError
from adjudge.objectives.adapters import CrossEncoderLoss, trainer_loss
from adjudge.objectives.loss import Objective

PAGE = Path(__file__).parents[2] / "docs" / "objectives.md"
WORDS = "the river is long short in town red blue old".split()
# The first word of the evidence decides, so that a few steps are enough to learn it.
PAIRS = [("the river is long", f"{word} river in town") for word in ("red", "blue", "old")] * 4
GOLD = [0, 1, 2] * 4

# With default arguments the trainers pin memory even on a machine without an accelerator.
on_any_machine = pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true:UserWarning")


def blocks(language: str) -> dict[str, str]:
    """The page's code blocks of one language; the key is the heading above with a number."""
    found: dict[str, str] = {}
    heading = ""
    for match in re.finditer(r"^## ([^\n]+)$|^```(\w+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S):
        if match[1]:
            heading = match[1]
        elif match[2] == language:
            found[f"{heading} {sum(key.startswith(heading) for key in found) + 1}"] = match[3]
    return found


def run(block: str, **given: Any) -> dict[str, Any]:
    """Execute a block of the page with what the reader is said to have."""
    exec(compile(block, str(PAGE), "exec"), given)
    return given


@pytest.fixture
def tokenizer() -> PreTrainedTokenizerFast:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = Tokenizer(models.WordLevel({w: i for i, w in enumerate(special + WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


@pytest.fixture
def classifier() -> BertForSequenceClassification:
    """A random BERT of one layer, without dropout, so that a step depends on its claims alone."""
    torch.manual_seed(0)
    return BertForSequenceClassification(
        BertConfig(
            vocab_size=len(WORDS) + 4,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=32,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            initializer_range=0.5,  # at the usual 0.02 so small a model hardly tells its inputs apart
            num_labels=3,
        )
    )


@pytest.fixture
def tokenized(tokenizer: PreTrainedTokenizerFast) -> Dataset:
    claims, evidence = zip(*PAIRS, strict=True)
    return Dataset.from_dict({**tokenizer(list(claims), list(evidence)), "labels": GOLD})


@pytest.fixture
def cross_encoder(
    classifier: BertForSequenceClassification, tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> CrossEncoder:
    classifier.save_pretrained(tmp_path / "tiny")
    tokenizer.save_pretrained(tmp_path / "tiny")
    return CrossEncoder(str(tmp_path / "tiny"), num_labels=3, device="cpu", local_files_only=True)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def parameters(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in model.named_parameters()}


@pytest.mark.parametrize("name", blocks("pycon"))
def test_the_figures_on_the_page_are_those_computed(name):
    test = doctest.DocTestParser().get_doctest(blocks("pycon")[name], {}, name, str(PAGE), 0)
    assert test.examples
    report: list[str] = []
    doctest.DocTestRunner().run(test, out=report.append)
    assert not report, "".join(report)


def test_the_page_shows_each_way_of_use():
    assert len(blocks("pycon")) == 4
    assert list(blocks("python")) == [
        "A plain PyTorch loop 1",
        "A plain PyTorch loop 2",
        "Hugging Face Trainer 1",
        "sentence-transformers CrossEncoder 1",
    ]


class TestPlainLoop:
    @pytest.fixture
    def model(self) -> nn.Module:
        torch.manual_seed(0)
        return nn.Linear(4, 3)

    def test_the_loop_on_the_page_learns(self, model):
        inputs = torch.eye(4)[:3]
        before = Objective("sr", lam=0.25)(model(inputs).log_softmax(dim=-1), torch.arange(3))
        after = run(
            blocks("python")["A plain PyTorch loop 1"], model=model, batches=[(inputs, torch.arange(3))] * 50
        )
        assert after["loss"] < before - 0.01

    def test_the_accumulated_step_on_the_page_equals_one_big_step(self, model):
        inputs, gold = torch.randn(7, 4), torch.tensor([0, 0, 1, 2, 0, 1, 0])
        block = blocks("python")["A plain PyTorch loop 2"]
        parted, whole, start = copy.deepcopy(model), copy.deepcopy(model), parameters(model)
        run(block, model=parted, batches=[(inputs[part], gold[part]) for part in (slice(0, 2), slice(2, 7))])
        run(block, model=whole, batches=[(inputs, gold)])
        torch.testing.assert_close(parameters(parted), parameters(whole))
        assert not torch.equal(start["weight"], parted.weight)


class TestTrainer:
    def train(
        self, model: nn.Module, data: Dataset, batch: int, accumulation: int
    ) -> dict[str, torch.Tensor]:
        """The weights after one optimizer step of SGD, whose step is the gradient itself."""
        arguments = TrainingArguments(
            "runs",
            per_device_train_batch_size=batch,
            gradient_accumulation_steps=accumulation,
            max_steps=1,
            learning_rate=0.1,
            optim="sgd",
            lr_scheduler_type="constant",
            max_grad_norm=0.0,
            use_cpu=True,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
        )
        objective = Objective("srn", lam=0.25, weights=[0.5, 2.0, 1.0])
        Trainer(
            model=model,
            args=arguments,
            train_dataset=data,
            compute_loss_func=trainer_loss(objective),
        ).train()
        return parameters(model)

    def test_two_accumulated_batches_step_as_one_of_double_size(self, classifier, tokenized):
        start = parameters(classifier)
        twice = self.train(copy.deepcopy(classifier), tokenized, batch=4, accumulation=2)
        once = self.train(copy.deepcopy(classifier), tokenized, batch=8, accumulation=1)
        torch.testing.assert_close(twice, once, rtol=1e-5, atol=1e-6)
        assert (once["classifier.weight"] - start["classifier.weight"]).abs().max() > 1e-4

    def test_a_last_micro_batch_of_another_size_still_counts_each_claim_once(self, classifier, tokenized):
        data = tokenized.select(range(7))  # 4 + 3 claims
        parted = self.train(copy.deepcopy(classifier), data, batch=4, accumulation=2)
        whole = self.train(copy.deepcopy(classifier), data, batch=7, accumulation=1)
        torch.testing.assert_close(parted, whole, rtol=1e-5, atol=1e-6)

    @on_any_machine
    def test_the_training_on_the_page_lowers_the_loss(self, classifier, tokenized):
        def measure() -> float:
            with torch.no_grad():
                logits = classifier(torch.tensor(tokenized["input_ids"])).logits
            return Objective("sr", lam=0.25)(logits.log_softmax(dim=1), torch.tensor(GOLD)).item()

        before = measure()
        run(blocks("python")["Hugging Face Trainer 1"], model=classifier, train_dataset=tokenized)
        assert measure() < before - 1e-3

    def test_outputs_may_be_dictionaries_or_objects_in_half_precision(self):
        logits = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float16)
        compute = trainer_loss(Objective("sr"))
        expected = Objective("sr")(logits.float().log_softmax(dim=1), torch.tensor([0]))
        output = type("Output", (), {"logits": logits})()
        for outputs in ({"logits": logits}, output):
            loss = compute(outputs, torch.tensor([[0]]))
            assert loss.dtype == torch.float32
            torch.testing.assert_close(loss, expected)

    def test_the_step_s_number_of_claims_is_the_divisor(self):
        compute = trainer_loss(Objective("sr"))
        outputs, labels = {"logits": torch.randn(2, 3)}, torch.tensor([0, 1])
        torch.testing.assert_close(
            compute(outputs, labels, num_items_in_batch=8) * 4, compute(outputs, labels)
        )

    def test_an_objective_that_counts_weights_is_refused(self):
        with pytest.raises(ConfigError, match="Trainer counts claims, not weights"):
            trainer_loss(Objective("sr", normalise="weights"))

    def test_a_batch_without_labels_is_refused(self):
        with pytest.raises(ConfigError, match="needs a column 'labels'"):
            trainer_loss(Objective("sr"))({"logits": torch.zeros(1, 3)}, None)


class TestCrossEncoder:
    @pytest.fixture
    def pairs(self) -> Dataset:
        claims, evidence = zip(*PAIRS, strict=True)
        return Dataset.from_dict({"claim": claims, "evidence": evidence, "label": GOLD})

    @on_any_machine
    def test_the_training_on_the_page_lowers_the_loss(self, cross_encoder, pairs):
        loss = CrossEncoderLoss(cross_encoder, Objective("sr", lam=0.25))
        columns = [list(pairs["claim"]), list(pairs["evidence"])]
        before = loss(columns, torch.tensor(GOLD)).item()
        run(
            blocks("python")["sentence-transformers CrossEncoder 1"], model=cross_encoder, train_dataset=pairs
        )
        assert loss(columns, torch.tensor(GOLD)).item() < before - 1e-3

    def test_the_loss_is_the_objective_on_the_encoder_s_logits(self, cross_encoder):
        claims, evidence = (list(texts) for texts in zip(*PAIRS[:3], strict=True))
        logits = cross_encoder.predict(PAIRS[:3], activation_fn=nn.Identity(), convert_to_tensor=True)
        expected = Objective("mll", lam=0.5)(logits.log_softmax(dim=1), torch.arange(3))
        loss = CrossEncoderLoss(cross_encoder, Objective("mll", lam=0.5))
        torch.testing.assert_close(loss([claims, evidence], torch.arange(3)[:, None]), expected)

    def test_an_encoder_with_another_number_of_labels_is_refused(self, cross_encoder):
        objective = Objective("ce", labels=["TRUE", "FALSE"])
        with pytest.raises(
            ConfigError, match=r"3 outputs and the objective has 2 labels; load it with num_labels=2"
        ):
            CrossEncoderLoss(cross_encoder, objective)

    def test_a_third_text_column_is_refused(self, cross_encoder):
        loss = CrossEncoderLoss(cross_encoder, Objective("sr"))
        with pytest.raises(ConfigError, match="has 3 text columns, expected claim and evidence"):
            loss([["a"], ["b"], ["c"]], torch.tensor([0]))
