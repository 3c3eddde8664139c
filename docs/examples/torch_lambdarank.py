"""A PyTorch loss whose value is 1 − nDCG and whose gradient comes from LambdaRank.

loss = lambdarank_loss(model(features).squeeze(-1), labels, mask)  # arguments of shape (B, L), one row per query
loss.backward()

needs: torch
"""

import torch

import rankgain as rg

METRIC = "ndcg(gain=exponential)@10"
gradients = rg.LambdaRank(METRIC)


class LambdaRankLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, labels, mask):
        arrays = labels.cpu(), scores.detach().float().cpu()  # NumPy has no bfloat16
        gradient, _ = gradients(*arrays, mask=mask.cpu())
        ctx.save_for_backward(torch.as_tensor(gradient / len(scores), dtype=scores.dtype, device=scores.device))
        lost = 1 - rg.from_scores(*arrays, mask=mask.cpu()).evaluate(METRIC).mean(METRIC)
        return scores.new_tensor(lost)

    @staticmethod
    def backward(ctx, upstream):
        return upstream * ctx.saved_tensors[0], None, None


lambdarank_loss = LambdaRankLoss.apply


def main():
    """Train a linear model on 50 queries of 5 to 20 documents, and check that the loss decreases."""
    torch.manual_seed(1)
    features = torch.randn(50, 20, 4)
    labels = (features @ torch.tensor([2.0, -1.0, 0.5, 0.0]) + torch.randn(50, 20)).clamp(0, 4).round()
    mask = torch.arange(20) < torch.randint(5, 21, (50, 1))  # True for a document, False for padding
    labels[~mask] = -100
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = lambdarank_loss(model(features).squeeze(-1), labels, mask)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"1 - ndcg@10: {losses[0]:.3f} at first, {losses[-1]:.3f} at last")
    assert losses[-1] < losses[0] - 0.1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        lambdarank_loss(model(features).squeeze(-1), labels, mask).backward()


if __name__ == "__main__":
    main()
