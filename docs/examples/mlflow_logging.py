"""Log means, values per query, a metric definition and a report to a local MLflow store.

needs: mlflow-skinny sqlalchemy alembic jinja2 matplotlib
"""

import os

import mlflow

mlflow.set_tracking_uri("sqlite:///mlflow.db")
mlflow.set_experiment(
    experiment_id=mlflow.create_experiment("rankgain", artifact_location=f"file://{os.getcwd()}/kept")
)

# -- log --
import mlflow

import rankgain as rg

qrels, run = rg.sample()
result = rg.read_trec(qrels, run).evaluate("ndcg@10", "mrr@10")

with mlflow.start_run():
    mlflow.log_metrics(result.flat(names="safe"))
    mlflow.log_dict({str(query): values for query, values in result.to_dict().items()}, "per_query.json")
    mlflow.log_text(str(rg.explain("ndcg@10")), "ndcg.txt")
# -- checked --
logged = mlflow.last_active_run()
assert logged.data.metrics == result.flat(names="safe")
# -- report --
runs = {"bm25": rg.read_trec(qrels, run), "ties at worst": rg.read_trec(qrels, run, ties="worst")}
rg.compare(runs, metrics=["ndcg@10"]).report("report.html")

with mlflow.start_run():
    mlflow.log_artifact("report.html")
# -- end --

(artifact,) = mlflow.MlflowClient().list_artifacts(mlflow.last_active_run().info.run_id)
assert artifact.path == "report.html"
