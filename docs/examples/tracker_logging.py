"""Log means to Weights & Biases and to TensorBoard without network access.

needs: wandb tensorboard torch
"""

import os
import time
from pathlib import Path

import rankgain as rg

os.environ["WANDB_MODE"] = "offline"

qrels, run = rg.sample()
result = rg.read_trec(qrels, run).evaluate("ndcg@10", "mrr@10", "ndcg(gain=exponential)@10")
epoch = 3

# -- wandb --
import wandb

with wandb.init(project="ranking") as session:
    session.log(result.flat(names="safe"), step=epoch)
# -- checked --
(kept,) = Path("wandb").glob("offline-run-*/run-*.wandb")
for _ in range(100):  # wait for the process that writes the file
    if logged := all(name.encode() in kept.read_bytes() for name in result.flat(names="safe")):
        break
    time.sleep(0.1)
assert logged
# -- tensorboard --
from torch.utils.tensorboard import SummaryWriter

with SummaryWriter("events") as writer:
    for name, value in result.flat(names="safe").items():
        writer.add_scalar(name, value, epoch)
# -- end --

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

written = EventAccumulator("events")
written.Reload()
assert {*written.Tags()["scalars"]} == {*result.flat(names="safe")}
(event,) = written.Scalars("ndcg_at_10")
assert event.step == epoch
assert abs(event.value - result.mean("ndcg@10")) < 1e-6
