"""Use rankgain's replacements for TorchMetrics' classes in a LightningModule.

needs: torch torchmetrics lightning
"""

# -- module --
import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics import MetricCollection

from rankgain.torchmetrics import RetrievalMRR, RetrievalNormalizedDCG


class Ranker(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Linear(4, 1)
        self.metrics = MetricCollection([RetrievalNormalizedDCG(top_k=10), RetrievalMRR()], prefix="val_")

    def training_step(self, batch):
        features, labels, _ = batch
        return torch.nn.functional.binary_cross_entropy_with_logits(self.model(features).squeeze(1), labels.float())

    def validation_step(self, batch):
        features, labels, queries = batch
        self.metrics.update(self.model(features).squeeze(1).sigmoid(), labels, indexes=queries)
        self.log_dict(self.metrics)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)


# -- training --
lightning.seed_everything(0)
features = torch.randn(2000, 4)
labels = (features[:, 0] + torch.randn(2000) > 1).long()
data = DataLoader(TensorDataset(features, labels, torch.arange(2000) // 20), batch_size=64)

ranker = Ranker()
trainer = lightning.Trainer(
    max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
)
trainer.fit(ranker, data, data)
print({name: round(float(value), 4) for name, value in trainer.callback_metrics.items()})
# -- end --
from torchmetrics.retrieval import RetrievalMRR as Theirs

with torch.no_grad():
    scores = ranker.model(features).squeeze(1).sigmoid()
expected = Theirs()(scores, labels, indexes=torch.arange(2000) // 20)
assert abs(trainer.callback_metrics["val_RetrievalMRR"] - expected) < 1e-6
assert trainer.callback_metrics["val_RetrievalNormalizedDCG"] > 0.5
