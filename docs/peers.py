"""What others do, from the table of peers."""

from rankgain.metrics.metric import parse
from rankgain.metrics.table import TABLE
from rankgain.results.peers import OWN, PEERS, explain

COLUMNS = ("tool", "gain; discount; ideal of nDCG", "AP ÷", "nothing relevant", "ties", "queries")
DIVISORS = {"ap": "R", "ap_capped": "min(k, R)", "ap_hits": "hits"}


def having(peer, name):
    """The metric in the form in which the peer has it, or None."""
    names = [key for measure in peer.measures for key in measure.names.split()] or [name]
    return next((key.replace("@k", "@10") for key in (name + "@k", name) if key in names), None)


def facts(peer, name):
    asked = having(peer, name)
    return None if asked is None else explain(asked, peer.name).facts[peer.name]


def divisor(peer):
    asked = having(peer, "ap")
    if asked is None:
        return "–"
    ((_, record),) = parse(asked)
    return DIVISORS[peer.measure(record).metric or "ap"]


def shape(found):
    if found is None:
        return "–"
    parts = [found["gain"].removeprefix("g(r) = "), found["discount"].removeprefix("d(i) = ")]
    ideal = found.get("ideal", "")
    kind = "returned" if "returned list" in ideal else "scored" if "scored" in ideal else "judged"
    parts.append(f"{kind} documents")
    return "; ".join(parts) if "ideal" in found else "1 for r > 0, else 0; 1 / log2(i + 1); k relevant documents"


def nothing(peer):
    """By metric, where they differ."""
    found = {name: facts(peer, name) for name in ("ndcg", "ap", "recall", "rr")}
    values = {name: own["nothing relevant"] for name, own in found.items() if own and "nothing relevant" in own}
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
    notes = [f"- **{peer.title}**: {'; '.join(peer.notes)}." for peer in PEERS.values()]
    return "\n".join([*table, "", *notes, ""])
