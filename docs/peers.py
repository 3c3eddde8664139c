"""The table of other tools' conventions, for the page on where tools differ."""

from rankgain.metrics.metric import parse
from rankgain.metrics.table import TABLE
from rankgain.results.peers import OWN, PEERS, explain

COLUMNS = ("tool", "gain; discount; ideal of nDCG", "AP ÷", "nothing relevant", "ties", "queries")
DIVISORS = {"ap": "R", "ap_capped": "min(k, R)", "ap_hits": "hits"}


def having(peer, name):
    """Return the peer's name for a metric, or None if it does not have the metric."""
    names = [key for measure in peer.measures for key in measure.names.split()] or [name]
    return next((key.replace("@k", "@10") for key in (name + "@k", name) if key in names), None)


def facts(peer, name):
    requested = having(peer, name)
    return None if requested is None else explain(requested, peer.name).facts[peer.name]


def divisor(peer):
    requested = having(peer, "ap")
    if requested is None:
        return "–"
    ((_, record),) = parse(requested)
    return DIVISORS[peer.measure(record).metric or "ap"]


def shape(facts_of_ndcg):
    if facts_of_ndcg is None:
        return "–"
    parts = [facts_of_ndcg["gain"].removeprefix("g(r) = "), facts_of_ndcg["discount"].removeprefix("d(i) = ")]
    ideal = facts_of_ndcg.get("ideal", "")
    kind = "returned" if "returned list" in ideal else "scored" if "scored" in ideal else "judged"
    parts.append(f"{kind} documents")
    return (
        "; ".join(parts) if "ideal" in facts_of_ndcg else "1 for r > 0, else 0; 1 / log2(i + 1); k relevant documents"
    )


def nothing(peer):
    """Return the value that the peer gives to queries without relevant documents, per metric if the values differ."""
    by_metric = {name: facts(peer, name) for name in ("ndcg", "ap", "recall", "rr")}
    values = {
        name: metric_facts["nothing relevant"]
        for name, metric_facts in by_metric.items()
        if metric_facts and "nothing relevant" in metric_facts
    }
    values = {name: value.partition(":")[0] for name, value in values.items()}
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return ", ".join(f"{TABLE[name].name} {value}" for name, value in values.items())


def row(peer):
    wide = " (scores in 32 bits)" if peer.rules.score_bits == 32 else ""
    return (f"`{peer.name}`", shape(facts(peer, "ndcg")), divisor(peer), nothing(peer), peer.order + wide, peer.queries)


def page():
    rows = [COLUMNS, ("---",) * len(COLUMNS), *(row(peer) for peer in (OWN, *PEERS.values()))]
    table = ["| " + " | ".join(cells) + " |" for cells in rows]
    notes = [f"- **{peer.title}**: {'. '.join(peer.notes)}." for peer in PEERS.values()]
    return "\n".join([*table, "", *notes, ""])
