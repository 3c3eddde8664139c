"""Evaluate the queries of requests in a FastAPI service, against judgments that are prepared once.

needs: fastapi httpx
"""

# -- service --
from fastapi import FastAPI
from pydantic import BaseModel

import rankgain as rg

# Prepared once when the service starts; threads may share it.
QRELS = rg.judgments({f"q{number}": {"a": 2, "b": 1, f"d{number}": 1} for number in range(500)})
METRICS = ("ndcg@10", "mrr@10")

app = FastAPI()


class Answer(BaseModel):
    query: str
    documents: list[str]  # best first


@app.post("/evaluate")
def evaluate(answer: Answer) -> dict[str, float]:
    rankings = rg.from_recommendations(QRELS, {answer.query: answer.documents}, missing="skip")
    return rankings.evaluate(*METRICS).mean()


# -- client --
from fastapi.testclient import TestClient

client = TestClient(app)
reply = client.post("/evaluate", json={"query": "q7", "documents": ["x", "a", "d7"]}).json()
print({metric: round(value, 4) for metric, value in reply.items()})
# -- end --

assert {metric: round(value, 4) for metric, value in reply.items()} == {"ndcg@10": 0.5627, "mrr@10": 0.5}
whole = rg.from_recommendations(QRELS, {"q7": ["x", "a", "d7"]}).evaluate("ndcg@10")
assert round(whole.mean("ndcg@10"), 4) == 0.0011
