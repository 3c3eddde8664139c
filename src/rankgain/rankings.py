"""The class Rankings, which holds input of any form and evaluates it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack, final

import numpy as np

from rankgain._codes import UNLIMITED
from rankgain.choices import Handed, Missing, Peer, ScoreBits, Ties, check_choices
from rankgain.data.advice.ratings import FEWEST_RATINGS, MOST_RATINGS, remark_on_ratings
from rankgain.data.rules import Rules, check_score_bits, check_ties
from rankgain.data.source import Source
from rankgain.errors import NoKeywords, counted, nearest, quoted, unexpected, without_unknown
from rankgain.metrics.by_subtopic import fill_by_subtopic
from rankgain.metrics.metric import Metric, each_of, parse_quality, row_of
from rankgain.metrics.parameters import cut_off
from rankgain.metrics.program import Plan, fill, planned
from rankgain.metrics.subtopics import ORDERS, SUBTOPIC_TABLE
from rankgain.results.evaluation import Evaluation
from rankgain.results.export import counting_bar
from rankgain.results.summary import COUNTS
from rankgain.scalars import id_text
from rankgain.threads import check_threads

if TYPE_CHECKING:
    from rankgain.metrics.metric import Metric
    from rankgain.results.attribution import Attribution
    from rankgain.results.bounds import Bounds
    from rankgain.results.calculation import Calculation
    from rankgain.results.curves import Curve
    from rankgain.results.peers import PeerRules
    from rankgain.results.ties import TieSpread
    from rankgain.scalars import Floats, Ints


@final
class Rankings:
    """Ranked documents with their judgments, one ranking per query.

    Created by `from_ranked`, `from_scores`, `from_recommendations`, `from_qrels`, `from_frames` and `read_trec`.
    Nothing is copied or sorted before `evaluate` needs it. ``len(rankings)`` is the number of queries.

    Attributes
    ----------
    query_ids : sequence
        The queries, in the order of the results.
    ties : {"average", "stable", "docid", "best", "worst"} or None
        The order of documents of equal score; None if the documents were given in rank order.
    missing : {"zero", "skip"} or None
        Whether queries that have judgments but no ranking are evaluated as empty lists or left out; None if each query
        was given with its documents, since none can then be missing.
    left_out : dict of str to int
        The number of judged queries that the run lacks (``"missing"``), and the number of queries of the run that have
        no judgments (``"unjudged"``).
    """

    __module__ = "rankgain"
    __slots__ = ("_rules", "_source")

    def __init__(self, source: Source, rules: Rules) -> None:
        self._source = source
        self._rules = rules

    @property
    def query_ids(self) -> Sequence[Any]:
        """The query ids, in the order of the results."""
        return self._source.query_ids

    @property
    def ties(self) -> Ties | None:
        """The rule that orders documents of equal score; None if the documents were given in rank order."""
        return self._rules.ties

    @property
    def missing(self) -> Missing | None:
        """Whether judged queries that the run lacks are evaluated as empty lists ("zero") or left out ("skip")."""
        return self._source.missing

    @property
    def left_out(self) -> dict[str, int]:
        """The counts of judged queries without a ranking ("missing") and of rankings without judgments ("unjudged")."""
        return dict(zip(("missing", "unjudged"), self._source.left_out, strict=True))

    def under(
        self, *, ties: Ties | None = None, missing: Missing | None = None, score_bits: ScoreBits | None = None
    ) -> Rankings:
        """Return the same rankings under other rules, without copying the documents.

        Parameters
        ----------
        ties : {"average", "stable", "docid", "best", "worst"}, optional
            The order of documents of equal score; see `from_qrels`. By default, unchanged.
        missing : {"zero", "skip"}, optional
            Whether queries that the run lacks are evaluated as empty lists or left out. By default, unchanged.
        score_bits : {64, 32}, optional
            The precision in which scores are compared. With 32, as in pytrec_eval and trec_eval up to release 9, scores
            that agree to about seven digits are tied. By default, unchanged; constructors set 64.

        Returns
        -------
        Rankings
            New rankings; the original ones do not change.

        Raises
        ------
        ValueError
            If a rule is unknown; if `ties` or `score_bits` is given but the rankings have no scores; if
            ``ties="docid"`` is given but there are no ids; if `missing` is given but the rankings do not record which
            queries the run lacks; or if the rankings are limited to a depth and `ties` does not determine which
            documents remain.

        See Also
        --------
        limited : Leaves out documents.
        tie_spread : The worst, expected and best values over the orders of tied documents.

        Examples
        --------
        >>> import rankgain as rg
        >>> rankings = rg.from_scores([0, 1], [0.5, 0.5])
        >>> [rankings.under(ties=ties).evaluate("rr").mean("rr") for ties in ("best", "average", "worst")]
        [1.0, 0.75, 0.5]
        """
        if (ties is not None or score_bits is not None) and self.ties is None:
            raise ValueError("ties and score_bits: these rankings were given in rank order, without scores")
        if score_bits is not None:
            check_score_bits(score_bits)
        if ties is not None:
            check_ties(ties, ids=self._source.has_ids)
        rules = self._rules.under(ties, score_bits)
        source = self._source.under(rules)
        if missing is not None and missing != self.missing:
            check_choices(missing=missing)
            if rules.scored_only:
                raise ValueError("missing: only queries with scored documents are left, so none is missing")
            source = self._with_remarks(source.under_missing(missing))
        return Rankings(source, rules)

    def __len__(self) -> int:
        return len(self._source.query_ids)

    def limited(self, *, depth: int | None = None, judged_only: bool = False, scored_only: bool = False) -> Rankings:
        """Return the same rankings with only some of their returned or judged documents.

        Parameters
        ----------
        depth : int, optional
            The number of leading documents of each ranking that count, as with trec_eval's ``-M``; a positive
            integer. Documents below them are treated as not returned. By default, all documents count.
        judged_only : bool, default False
            Whether unjudged documents are removed, so that those below them move up, as with trec_eval's ``-J`` (the
            condensed lists of Sakai 2007).
        scored_only : bool, default False
            Whether the documents that are left are the judged ones: judged documents that were not returned are
            removed, and returned ones that are unjudged get grade 0. Queries without judgments or documents are left
            out. A tool that is handed arrays of labels and scores knows only these documents.

        Returns
        -------
        Rankings
            New rankings; the original ones do not change. `depth` applies to the documents that earlier calls have
            left. In one call, `depth` comes first and `scored_only` last.

        Raises
        ------
        ValueError
            If `depth` is not positive, or the rule for ties ("average", "best" or "worst") does not determine which of
            the tied documents are kept; or, with `scored_only`, if no query has both judgments and documents.
        TypeError
            If `depth` is not an integer or `judged_only` or `scored_only` is not a bool.

        See Also
        --------
        under : Changes the rules for ties and missing queries.
        evaluate : Follows another tool, with what its users hand it.

        References
        ----------
        T. Sakai, "Alternatives to bpref", SIGIR 2007.

        Examples
        --------
        >>> import rankgain as rg
        >>> qrels = {"q1": {"d1": 1, "d2": 0, "d3": 1}}
        >>> run = {"q1": {"x": 0.9, "d2": 0.8, "d1": 0.7, "d3": 0.6}}
        >>> rankings = rg.from_qrels(qrels, run)
        >>> [part.evaluate("rr", "recall").mean() for part in (rankings, rankings.limited(depth=3, judged_only=True))]
        [{'rr': 0.3333333333333333, 'recall': 1.0}, {'rr': 0.5, 'recall': 0.5}]
        >>> [part.evaluate("recall").mean("recall") for part in (rankings, rankings.limited(depth=3, scored_only=True))]
        [1.0, 1.0]
        """
        for name, flag in (("judged_only", judged_only), ("scored_only", scored_only)):
            if not isinstance(flag, (bool, np.bool_)):
                raise TypeError(f"{name} must be True or False, not {flag!r}")
        rules = self._rules.limited(cut_off(depth, "depth"), bool(judged_only))
        rankings = Rankings(self._source, rules)
        return rankings._scored(queries=True, documents=True) if scored_only else rankings

    def _scored(self, *, queries: bool, documents: bool) -> Rankings:
        """Return the rankings with only the queries that have documents, or with the scored documents as judged ones.

        The documents need no rule if they are judged as given, in lists of grades that are not limited.
        """
        source = self._with_remarks(self._source.non_empty()) if queries else self._source
        if source.judges_scored and not self._rules.is_limited:
            return Rankings(source, self._rules)
        return Rankings(source, self._rules.limited(UNLIMITED, False, documents))

    @without_unknown
    def evaluate(
        self,
        *metrics: str | Metric | Iterable[str | Metric],
        threads: int = 1,
        like: Peer | None = None,
        given: Handed | None = None,
        progress: bool = False,
        **unknown: Unpack[NoKeywords],
    ) -> Evaluation:
        """Compute metrics at all requested cut-offs in one pass over the data.

        Parameters
        ----------
        *metrics : str or Metric
            What to compute: ``"ndcg@10"``, ``"ndcg(gain=exponential)@10"`` (or, for shells,
            ``"ndcg:gain=exponential@10"``), ``"mrr"``, trec_eval's ``"ndcg_cut.5,10"`` and ``"recip_rank"``, or a
            `rankgain.metric`, which lists names and parameters; or lists of these.
        threads : int, default 1
            How many threads may share the queries, from 1 to 256; any number gives the same values, bit for bit. Calls
            shorter than about a millisecond use one thread. Arrays, matrices, frames and files benefit; dicts and lists
            of Python objects hardly do. Callable gains are called from all threads. Ctrl-C interrupts the main thread
            between chunks of queries, and between the sums of a query of more than a million documents; the other
            threads finish the current chunk.
        like : str, optional
            The tool whose rules to follow: ``"trec_eval-9"``, ``"trec_eval-10"``, ``"sklearn"``, ``"lightgbm"``,
            ``"xgboost"``, ``"catboost"``, ``"torchmetrics"``, ``"ranx"``, ``"lenskit"``, ``"rectools"``,
            ``"implicit"``, ``"spark"``, ``"elasticsearch"``, ``"beir"``, ``"msmarco"`` or ``"ndeval"``.
            The tool's gain, ideal, threshold, divisor and value for empty queries replace the defaults of the metric;
            parameters that a string states, or that differ from the default in a `Metric`, are kept. The tool's rules
            for ties, missing queries and the precision of scores replace those of the rankings. `rankgain.explain`
            prints them. By default, rankgain's own rules.
        given : {"files", "scored"}, optional
            What the tool is handed: the whole truth, as in a file of judgments; or arrays of labels and scores, hence
            only the scored documents, as with ``limited(scored_only=True)``. By default, ``"scored"`` for scikit-learn,
            LightGBM, XGBoost, CatBoost and TorchMetrics, else ``"files"``. Of the other tools, only rankgain accepts
            ``"scored"``.
        progress : bool, default False
            Whether a bar of tqdm shows how many queries are done, unless the work takes only milliseconds.

        Returns
        -------
        Evaluation
            A mapping from each metric, as requested, to a float64 vector with one value per query.

        Raises
        ------
        ValueError
            If a metric is unknown, its text is invalid or a parameter is out of range; if it has no expected value
            and the rule for ties is "average"; if `like` is unknown, has no such metric, or has a rule that these
            rankings cannot follow; if `given` is unknown or not what users hand the tool; if `threads` is out of range;
            or if the contents are invalid: a score is NaN, a grade is NaN, infinite or negative (in arrays), has no
            gain or is above ``max_grade``, a judged document appears twice, or `judged` lacks grades that were
            returned. If several queries are invalid, the message names the first, and the first invalid position in
            it.
        TypeError
            If a metric does not take a parameter that is given, a grade or score is not a number, or tied documents
            cannot be ordered because their ids are of mixed types.
        ImportError
            If `progress` is True and tqdm is not installed: ``pip install 'rankgain[progress]'``.

        Warns
        -----
        UserWarning
            If no returned document is judged, and ids of the judgments and the run differ only in case, surrounding
            blanks, Unicode normalisation or a decimal point (1 and 1.0); or if judgments and run have at least 20 ids
            each and none in common, and the ids of each begin with other letters.

        See Also
        --------
        metric : Metrics with parameters that do not fit in a string.
        explain : The formula and the rules behind a number.
        curve : One metric at many cut-offs.
        compare : Several runs side by side.

        Examples
        --------
        >>> import rankgain as rg
        >>> rankings = rg.from_scores([[0, 1, 2], [1, 0, 0]], [[0.3, 0.9, 0.1], [0.8, 0.1, 0.2]])
        >>> result = rankings.evaluate("ndcg@2", "mrr")
        >>> result["mrr"].tolist()
        [1.0, 1.0]
        >>> round(result.mean("ndcg@2"), 4)
        0.69
        >>> rankings.evaluate("ndcg@2", like="lightgbm")
        <Evaluation: 2 queries, ties='stable', like='lightgbm', backend='...'>
        ndcg@2  0.6377
        """
        if unknown:
            raise unexpected(Rankings.evaluate, unknown)
        if type(threads) is not int or threads != 1:
            threads = check_threads(threads)
        requests = each_of(metrics)
        rankings, name = self, None
        if like is None and given is None:
            plan = planned(requests)
        else:
            from rankgain.results.peers import OWN, common_rules, peer_of  # imported only when needed

            peer_metrics, peer_rules = common_rules(requests, like)
            requests, plan = tuple(peer_metrics), planned(tuple(peer_metrics.values()))
            peer = peer_of(like)
            rankings = self._following(peer_rules, like, peer.given(given))
            name = None if peer is OWN else peer.name
        source, rules = rankings._source, rankings._rules
        counts_judged = source.has_non_relevant and not rules.judged_only and not rules.scored_only
        if progress is not False:
            with counting_bar(progress, len(source.query_ids), "queries") as bar:
                out, empty = fill(plan, source, rules, threads, bar, counts_judged)
        else:
            out, empty = fill(plan, source, rules, threads, None, counts_judged)
        capped, judged = 0, (plan.share_depth, out[-1]) if counts_judged else None
        if plan.by_subtopic:
            ordinary = out[:-1] if counts_judged else out
            out, empty, capped = fill_by_subtopic(plan, source, rules, ordinary, threads)
        assumed = source.assumed
        if source.may_have_other_ids and not out.item(0):
            assumed += _look_for_hits(source, rules, out)
        if plan.without_rel is not None and like is None and source.n_judged >= FEWEST_RATINGS:
            assumed += remark_on_ratings(source.some_grades(MOST_RATINGS), plan.without_rel)
        ids, missing = source.query_ids, source.missing
        lacking, unjudged = source.left_out
        counts = len(ids), lacking, unjudged, empty, source.excluded_judgments, capped, source.own_ids
        values, weights = plan.vectors(requests, out), plan.weights(out) if plan.weighing else None
        return Evaluation(
            values, ids, rules.ties, missing, name, plan.backend, counts, weights, assumed, COUNTS, judged
        )

    def _following(self, rules: PeerRules, like: str | None, given: Handed) -> Rankings:
        """Return the rankings under the rules of a tool, with what it is handed.

        A rule that they cannot follow raises a ValueError. Rankings given in rank order have no ties; if each query was
        given with its documents, none is missing.
        """
        unjudged = self.left_out["unjudged"]
        if rules.counts_unjudged and unjudged:
            raise ValueError(
                f"like={like!r}: queries of the run without judgments count 0 there and are left out here: give the "
                f"{unjudged} of them empty judgments, or drop them from the run"
            )
        covers = self._source.covers
        if not rules.weighs_subtopics and covers is not None and covers.weights is not None:
            raise ValueError(f"like={like!r}: it has no weights of subtopics: make the judgments without weights=")
        changes: dict[str, Any] = {}
        if self.ties is not None:
            changes |= {"ties": rules.ties, "score_bits": rules.score_bits}
        if self.missing is not None and given == "files" and not self._rules.scored_only:
            changes["missing"] = rules.missing
        try:
            rankings = self.under(**changes)
        except ValueError as error:
            raise ValueError(f"like={like!r}: {error}") from error
        if rules.removes_own_ids:
            rankings = rankings._without_own_ids()
        return rankings.limited(scored_only=True) if given == "scored" else rankings

    def _without_own_ids(self) -> Rankings:
        """Return the rankings without hits that have the id of their query."""
        return Rankings(self._with_remarks(self._source.without_own_ids()), self._rules)

    def _with_remarks(self, source: Source) -> Source:
        """Add to a source that was made from the present one what results say about the input."""
        source.assumed = self._source.assumed
        source.own_ids = source.own_ids or self._source.own_ids
        return source

    def calculation(
        self,
        metric: str | Metric,
        query: Any,
        *,
        like: Peer | None = None,
        given: Handed | None = None,
        limit: int | None = None,
    ) -> Calculation:
        """Show how the value of one query is calculated: what each rank adds, and the ideal ranking.

        Only this query is evaluated.

        Parameters
        ----------
        metric : str or Metric
            What to calculate, as in `evaluate`, with at most one cut-off.
        query : hashable
            The id of the query, one of `query_ids`.
        like : str, optional
            The tool whose rules to follow, as in `evaluate`. By default, rankgain's own rules.
        given : {"files", "scored"}, optional
            What the tool is handed, as in `evaluate`.
        limit : int, optional
            The number of ranks to show. By default k, or 100 if the metric has no cut-off.

        Returns
        -------
        Calculation
            Prints as a table; the value equals that of `evaluate` to the last bit.

        Raises
        ------
        ValueError
            If `metric` stands for several metrics, the query is unknown (the message suggests a similar one), `limit`
            is not positive, or `evaluate` would raise it for this query or for the judgments of an earlier one.
        TypeError
            If `limit` is not an integer, or `evaluate` would raise it.

        See Also
        --------
        explain : The formula and the rules, without amounts.
        tie_spread : The values over the orders of tied documents, for all queries.

        Notes
        -----
        Documents of equal score are shown with the range of ranks that they share. Under ``ties="average"``, the
        discount is the mean over these ranks, with 0 for ranks beyond k, so that gain times discount is still the
        product; the sum at the last of these ranks is exact.

        Examples
        --------
        >>> import rankgain as rg
        >>> grades = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}
        >>> rg.from_recommendations([grades], [["A", "B", "C"]]).calculation("ndcg@10", 0)
        ndcg@10 of query 0: 0.7655 / 1.3472 = 0.5682
        rank  document  grade  gain  discount  product     sum  ideal  grade  product     sum
           1  A           0.1   0.1    1.0000   0.1000  0.1000  C        0.7   0.7000  0.7000
           2  B           0.5   0.5    0.6309   0.3155  0.4155  B        0.5   0.3155  1.0155
           3  C           0.7   0.7    0.5000   0.3500  0.7655  D        0.5   0.2500  1.2655
           4                                                    A        0.1   0.0431  1.3085
           5                                                    E        0.1   0.0387  1.3472
        not returned: D (0.5), E (0.1). The list has 3 of 10 documents.
        """
        from rankgain.results.calculation import calculate  # imported only when needed
        from rankgain.results.peers import peer_of, single_metric
        from rankgain.results.subtopic_calculation import calculate_by_subtopic

        peer = peer_of(like)
        requested = single_metric(metric, peer)
        rankings = self._following(requested.rules, like, peer.given(given))
        number = position_of(query, rankings.query_ids)
        shown = None if limit is None else cut_off(limit, "limit")
        calculation = calculate_by_subtopic if requested.metric.name in SUBTOPIC_TABLE else calculate
        return calculation(*parts_of(rankings), requested.metric, requested.key, number, like, shown)

    def attribution(
        self, metric: str | Metric, like: Peer | str | Metric, *, given: Handed | None = None
    ) -> Attribution:
        """Show which rules make a metric's mean differ between rankgain and another tool, and by how much.

        Parameters
        ----------
        metric : str or Metric
            What to compute, as in `evaluate`, with at most one cut-off.
        like : str or Metric
            The tool whose rules to follow, as in `evaluate`; or another metric, as in `evaluate`.
        given : {"files", "scored"}, optional
            What the tool is handed, as in `evaluate`.

        Returns
        -------
        Attribution
            One row per rule that differs for this metric; prints as a table.

        Raises
        ------
        ValueError
            If `metric` stands for several metrics, or ``evaluate(metric, like=like, given=given)`` would raise it.
        TypeError
            If `evaluate` would raise it.

        See Also
        --------
        explain : The rules of tools and their differences, without amounts.
        calculation : The value of one query, by rank.

        Notes
        -----
        The column "adds" has the differences of successive means "with above". They sum to the difference between the
        tools, because the last mean "with above" equals that of ``evaluate(metric, like=like, given=given)``. Rules
        interact, so the changes by single rules need not sum to it.

        Examples
        --------
        >>> import rankgain as rg
        >>> rankings = rg.from_qrels({"q": {"a": 1, "b": 1, "c": 0}}, {"q": {"c": 3.0, "a": 2.0}})
        >>> rankings.attribution("ndcg", like="sklearn")
        ndcg: 0.3869 by rankgain, 0.6309 like sklearn (+0.2441)
        <BLANKLINE>
        rule              rankgain          sklearn            only this   change  with above     adds  changed  counted
        ----------------  ----------------  -----------------  ---------  -------  ----------  -------  -------  -------
        queries           all judged ones;  those with            0.3869   0.0000      0.3869   0.0000        0        1
                          missing ones      documents
                          count 0
        judged documents  those of the      the scored ones       0.6309  +0.2441      0.6309  +0.2441        1        1
                          truth
        ties              docid             the expected          0.3869   0.0000      0.6309   0.0000        0        1
                                            value over all
                                            orders (average);
                                            with
                                            ignore_ties=True
                                            an unstable sort
        only this: the mean with only this rule changed; with above: with this rule and those above.
        adds sums to +0.2441; change need not, because rules interact.
        """
        from rankgain.results.attribution import Setting, attribute  # imported only when needed
        from rankgain.results.peers import OWN, reference_of, single_metric

        peer = reference_of(like)
        requested, handed = single_metric(metric, peer), peer.given(given)
        if peer.metric is None:
            self.evaluate(metric, like=like, given=given)  # type: ignore[arg-type]  # raises the same errors
        rules, score_bits = self._rules, None if self.ties is None else self._rules.score_bits
        scored = rules.scored_only or (self._source.judges_scored and not rules.is_limited)
        base = Setting(single_metric(metric, OWN).metric, self.missing, _GIVEN[scored], self.ties, score_bits)
        theirs = requested.rules
        target = Setting(requested.metric, theirs.missing, handed, theirs.ties, theirs.score_bits)
        if theirs.removes_own_ids and self._without_own_ids()._source.own_ids:
            target = target._replace(own_ids="removed")
        if scored:
            base, target = base._replace(queries=None), target._replace(judged="scored")
        elif handed == "scored":
            base, target = base._replace(queries=self.missing or "all"), target._replace(queries="scored")
        known: dict[tuple[Any, ...], Rankings] = {base[1:]: self}

        def evaluate(setting: Setting) -> Evaluation:
            if setting[1:] not in known:
                changes: dict[str, Any] = {
                    name: getattr(setting, name)
                    for name in ("ties", "score_bits")
                    if getattr(setting, name) != getattr(base, name)
                }
                if setting.queries not in (base.queries, "scored"):
                    changes["missing"] = setting.queries
                chosen = {"queries": setting.queries == "scored", "documents": setting.judged > base.judged}
                rankings = self.under(**changes)._scored(**chosen)
                known[setting[1:]] = rankings._without_own_ids() if setting.own_ids == "removed" else rankings
            return known[setting[1:]].evaluate(setting.metric)

        unjudged = self.left_out["unjudged"] if handed == "scored" else 0
        return attribute(requested.key, base, target, peer, evaluate, unjudged)

    def tie_spread(self, *metrics: str | Metric, threads: int = 1) -> TieSpread:
        """Compute the worst, expected and best values of metrics over the orders of tied documents.

        A model that gives all documents the same score has perfect values in the best order and the lowest values in
        the worst order.

        Parameters
        ----------
        *metrics : str or Metric
            What to compute, as in `evaluate`.
        threads : int, default 1
            How many threads may share the queries, as in `evaluate`.

        Returns
        -------
        TieSpread
            The values and means of the worst, expected and best order, and under the current rule for ties.

        Raises
        ------
        ValueError
            If the rankings were given in rank order, without scores, so that nothing is tied; or if `evaluate` would
            raise it.
        TypeError
            If `evaluate` would raise it.

        See Also
        --------
        under : The same rankings with another rule for ties.

        Notes
        -----
        The worst and best orders sort tied documents by gain (by grade for metrics of relevant documents), lowest or
        highest first; for fall-out, they are reversed. For most metrics, these orders give the extremes; `TieSpread`
        names the exceptions. The expected value is that of ``ties="average"``.

        Examples
        --------
        >>> import rankgain as rg
        >>> constant = rg.from_scores([[0, 1, 0, 2], [0, 0, 0, 1]], [[0.5] * 4] * 2, ties="stable")
        >>> constant.tie_spread("ndcg@2", "rr")
        metric   worst  expected    best  stable  affected by ties
        ------  ------  --------  ------  ------  ----------------
        ndcg@2  0.0000    0.4363  1.0000  0.1199            2 of 2
        rr      0.2917    0.6215  1.0000  0.3750            2 of 2
        """
        from rankgain.results.ties import TieSpread

        if self.ties is None:
            raise ValueError("tie_spread: these rankings were given in rank order, without scores, so nothing is tied")
        metrics = each_of(metrics)
        records = dict(pair for request in metrics for pair in parse_quality(request))
        for key, record in records.items():
            if record.name in SUBTOPIC_TABLE:
                raise ValueError(f"tie_spread: {key!s} has no worst and best order: {ORDERS}")
        unaveraged = {key: reason for key, record in records.items() if (reason := row_of(record.name).unaveraged)}
        averaged = [request for request in metrics if not any(key in unaveraged for key, _ in parse_quality(request))]
        average = self.under(ties="average")
        expected = average.evaluate(*averaged, threads=threads) if averaged else None
        extremes = {ties: average.under(ties=ties).evaluate(*metrics, threads=threads) for ties in ("worst", "best")}
        by_ties = {"average": expected, **extremes}
        if self.ties not in by_ties:
            by_ties[self.ties] = self.evaluate(*metrics, threads=threads)
        return TieSpread(extremes["worst"], expected, extremes["best"], by_ties[self.ties], self.ties, unaveraged)

    def bounds(self, metric: str | Metric) -> Bounds:
        """Compute the least and the greatest value of each query over the judgments of its unjudged documents.

        Parameters
        ----------
        metric : str or Metric
            What to compute, as in `evaluate`, with at most one cut-off: ``ndcg``, ``ap``, or a metric whose value never
            falls if a grade rises (``cg``, ``dcg``, ``rbp``, ``rr``, ``success``, ``precision``, ``recall``,
            ``capped_recall``, ``f``, ``err``, ``ncg``).

        Returns
        -------
        Bounds
            The values and their bounds per query; prints the means.

        Raises
        ------
        ValueError
            If `metric` stands for several metrics, no bounds are known for it or for its parameters, documents of equal
            score are not in a known order, or `evaluate` would raise it.
        TypeError
            If `evaluate` would raise it.

        See Also
        --------
        limited : Removes unjudged documents, which is no remedy if the judgments favour some systems.
        Evaluation.interval : How much chance in the choice of queries moves the mean.

        Notes
        -----
        The unjudged documents among the first k (all returned ones if there is no k) may have any grade from 0 to the
        highest judged grade of all queries. Judgments exist that give each bound. Relevant documents outside the first
        k are not considered, although they would lower metrics with an ideal, such as ``ndcg``.

        Examples
        --------
        >>> import rankgain as rg
        >>> qrels = {"q": {"a": 2, "b": 0}}
        >>> rg.from_qrels(qrels, {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}).bounds("ndcg@10")
        ndcg@10: 0.5000; 0.5000 to 0.6934 if the unjudged of the first 10 may have any grade up to 2; relevant ...
        """
        from rankgain.results.bounds import bounds_over_judgments  # imported only when needed
        from rankgain.results.peers import OWN, single_metric

        return bounds_over_judgments(single_metric(metric, OWN).metric, self._source, self._rules)

    def curve(self, metric: str | Metric, ks: Iterable[int] = range(1, 101)) -> Curve:
        """Compute one metric at many cut-offs in one pass over the data.

        Parameters
        ----------
        metric : str or Metric
            What to compute, as in `evaluate`, without a cut-off: ``"ndcg"``, ``"ndcg(gain=exponential)"``.
        ks : iterable of int, default range(1, 101)
            The cut-offs, positive integers in any order; repeated ones count once.

        Returns
        -------
        Curve
            The value of each query at each cut-off, with means and a plot.

        Raises
        ------
        ValueError
            If `metric` has a cut-off already, `ks` is empty or holds a number that is not positive, or `evaluate` would
            raise it.
        TypeError
            If the metric has no cut-off to vary, `ks` does not hold integers, or `evaluate` would raise it.

        See Also
        --------
        plot : Curves of several runs and metrics in one figure.

        Examples
        --------
        >>> import rankgain as rg
        >>> curve = rg.from_ranked([[3, 0, 1], [0, 1, 2]]).curve("ndcg", ks=[1, 2, 3])
        >>> curve.values.round(4).tolist()
        [[1.0, 0.8262, 0.9639], [0.0, 0.2398, 0.6199]]
        >>> curve.mean().round(4).tolist()
        [0.5, 0.533, 0.7919]
        """
        return curves_of(self, [metric], ks)[0]

    def __repr__(self) -> str:
        returned = int(sizes_of(self).sum())
        ties = "" if self.ties is None else f", ties={self.ties!r}"
        missing = "" if self.missing is None else f", missing={self.missing!r}"
        return f"<Rankings of {counted(len(self), 'query')}, {counted(returned, 'document')}{ties}{missing}>"


_GIVEN: tuple[Handed, Handed] = ("files", "scored")


def curves_of(rankings: Rankings, metrics: Iterable[str | Metric], ks: Iterable[int]) -> list[Curve]:
    """Return one Curve per metric; all are computed in one pass."""
    from rankgain.results.curves import Curve, check_ks, without_cutoff  # imported only when needed

    cutoffs = check_ks(ks)
    rows = [[metric.at(k) for k in cutoffs.tolist()] for metric in map(without_cutoff, metrics)]
    result = rankings.evaluate(*(metric for row in rows for metric in row))
    cutoffs.flags.writeable = False
    curves = []
    for row in rows:
        values = np.column_stack([result[metric] for metric in row])
        values.flags.writeable = False
        curves.append(Curve(row[0].at(None), cutoffs, values, rankings.query_ids))
    return curves


def position_of(query: Any, query_ids: Sequence[Any]) -> int:
    """Return the position of a query among the evaluated queries."""
    try:
        return query_ids.index(query)
    except ValueError:
        pass
    texts = {id_text(known): known for known in query_ids}
    near = nearest(id_text(query), texts)
    few = f"; there are: {', '.join(map(quoted, query_ids[:3]))}{' …' if len(query_ids) > 3 else ''}"
    hint = f"; did you mean {quoted(texts[near])}?" if near else few
    raise ValueError(f"query {quoted(query)} is not among the {counted(len(query_ids), 'query')} evaluated{hint}")


def parts_of(rankings: Rankings) -> tuple[Source, Rules]:
    """Return the source and the rules of rankings."""
    return rankings._source, rankings._rules


def first_documents(rankings: Rankings, query_ids: Iterable[Any]) -> dict[Any, Any]:
    """Return a dict from queries to their first documents, or an empty dict if documents have no ids."""
    source, rules = parts_of(rankings)
    if not source.has_ids:
        return {}
    requested = set(query_ids)
    rows = {query: row for row, query in enumerate(source.query_ids) if query in requested}
    first = source.first_documents([*rows.values()], rules)
    return {query: document for query, document in zip(rows, first, strict=True) if document is not None}


def sizes_of(rankings: Rankings) -> Ints:
    """Return the number of documents that count for each query."""
    source, rules = parts_of(rankings)
    return np.minimum(source.sizes, rules.depth)


def values_of(rankings: Rankings, plan: Plan) -> dict[Metric, Floats]:
    """Return the values of a plan's metrics, as a dict by metric."""
    out, _ = fill(plan, *parts_of(rankings))
    return dict(zip(plan.metrics, out, strict=True))


def _look_for_hits(source: Source, rules: Rules, out: Floats) -> tuple[str, ...]:
    """If no returned document is judged, warn, or return a remark, if the ids of judgments and run seem to differ."""
    if out[0].any():
        return ()
    try:
        judged, _ = fill(planned(("judged",)), source, rules.unscored())
    except (ValueError, TypeError):  # this metric must break a tie that the requested metrics did not have to break
        return ()
    if judged.any():
        return ()
    from rankgain.data.advice.no_hits import remarks_on_ids  # imported only when needed

    return remarks_on_ids(*source.id_sides(), len(source.query_ids))
