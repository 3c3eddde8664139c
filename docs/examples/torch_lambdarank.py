"""LambdaRank as a loss of torch: its gradient is rankgain's, its value the nDCG that is lost.

loss = lambdarank_loss(model(features), labels, group_sizes)
loss.backward()

needs: torch
"""

import torch

import rankgain as rg

METRIC = "ndcg(gain=exponential)@10"


class LambdaRank(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, labels, group_sizes):
        held = scores.detach().cpu().numpy(), labels.cpu().numpy()
        gradient, _ = rg.lambdarank(held[1], held[0], group_sizes=group_sizes, metric=METRIC)
        ctx.gradient = torch.as_tensor(gradient / len(group_sizes), dtype=scores.dtype, device=scores.device)
        lost = 1 - rg.from_scores(held[1], held[0], group_sizes=group_sizes).evaluate(METRIC).mean(METRIC)
        return scores.new_tensor(lost)

    @staticmethod
    def backward(ctx, upstream):
        return upstream * ctx.gradient, None, None


lambdarank_loss = LambdaRank.apply


def main():
    """Train a line on 50 queries of 20 documents, and see that the loss falls."""
    torch.manual_seed(1)
    features = torch.randn(1000, 4)
    labels = (features @ torch.tensor([2.0, -1.0, 0.5, 0.0]) + torch.randn(1000)).clamp(0, 4).round()
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = lambdarank_loss(model(features).squeeze(1), labels, [20] * 50)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"1 - ndcg@10: {losses[0]:.3f} at first, {losses[-1]:.3f} at last")
    assert losses[-1] < losses[0] - 0.1


if __name__ == "__main__":
    main()
