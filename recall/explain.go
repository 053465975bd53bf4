package recall

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// MaxLeftOut is the most candidates that an explanation lists as left out.
const MaxLeftOut = 100

// Explanation states how an answer came about.
type Explanation struct {
	Mode       Mode    // of the ranking, like the next three
	Weights    Weights // of the parts of a score
	DecayRate  float64
	Limit      int       // of candidates, for each search
	Memories   int       // active memories of the owner
	Matching   int       // of these, the ones that the filters of the query admit
	Candidates int       // of these, the ones that were compared with the query
	LeftOut    []LeftOut // candidates without a place in the answer, by score
	Stages     []Stage   // by start
}

// LeftOut is a candidate without a place in the answer.
type LeftOut struct {
	Recalled
	Reason Reason
	By     string // Represented: the id of the memory that stands for it
}

// Reason is why a candidate was left out.
type Reason string

// The reasons.
const (
	Represented Reason = "represented" // a fact or message of the same statement stands for it
	// A message whose statements were superseded by memories that are not active any more, or a memory that repeats or
	// condenses a superseded statement.
	Former        Reason = "former"
	TooDissimilar Reason = "min_similarity" // its similarity is below the query's minimum
	TooUnsure     Reason = "min_confidence" // its confidence is below the query's minimum
	BeyondLimit   Reason = "limit"          // better ones fill the answer
)

// Stage is a stage of a recall. The stages route, embed and load overlap.
type Stage struct {
	Name  string
	Start time.Duration // since the beginning of the recall
	Took  time.Duration
}

// The names of the stages.
const (
	stageRoute      = "route"
	stageEmbed      = "embed"
	stageLoad       = "load"
	stageSearch     = "search"
	stageCandidates = "candidates"
	stageFuse       = "fuse"
	stageRerank     = "rerank"
	stageRank       = "rank"
	stageHydrate    = "hydrate"
	stageRecollect  = "recollect"
)

// explainer collects what the answer to a query omits. A nil explainer collects nothing.
type explainer struct {
	about   userTerms
	stages  *stages
	omitted []omission
	ranked  []relevant // the candidates as they were ranked
	former  []string   // ids of candidates that only repeat former statements
}

// omission is a candidate that was dropped before the ranking.
type omission struct {
	relevant
	reason Reason
	by     string
}

// explainerOf returns nil unless the query asks for an explanation.
func explainerOf(q Query, about userTerms, m *stages) *explainer {
	if !q.Explain {
		return nil
	}
	return &explainer{about: about, stages: m}
}

// onFold returns the function that fold calls for each candidate that another one stands for.
func (e *explainer) onFold() func(dropped relevant, by string) {
	if e == nil {
		return nil
	}
	return func(dropped relevant, by string) {
		reason := Represented
		if by == dropped.id {
			reason, by = Former, ""
		}
		e.omitted = append(e.omitted, omission{relevant: dropped, reason: reason, by: by})
	}
}

// rank copies the candidates, since the ranking reorders them.
func (e *explainer) rank(list []relevant) {
	if e != nil {
		e.ranked = slices.Clone(list)
	}
}

// leaveOut notes the candidates that only repeat former statements.
func (e *explainer) leaveOut(r *repetitions) {
	if e != nil {
		e.former = r.dropped
	}
}

// explain adds the explanation to an answer.
func (s *Service) explain(ctx context.Context, q Query, e *explainer, found searchResult, answer *Answer) error {
	if e == nil {
		return nil
	}
	e.stages.endLatest()
	explanation := Explanation{
		Mode: q.Mode, Weights: *q.Weights, DecayRate: q.DecayRate, Limit: q.Candidates,
		Candidates: len(e.omitted) + len(e.ranked),
	}
	if found.index != nil {
		explanation.Memories = len(found.index.docs)
		explanation.Matching = len(found.scope.matching)
	}
	slices.SortStableFunc(e.stages.list, func(a, b Stage) int { return cmp.Compare(a.Start, b.Start) })
	explanation.Stages = e.stages.list
	leftOut, err := s.leftOut(ctx, q, e, found.index, *answer)
	explanation.LeftOut = leftOut
	answer.Explanation = &explanation
	return err
}

// leftOut returns the best candidates without a place in the answer, as the database has them.
func (s *Service) leftOut(ctx context.Context, q Query, e *explainer, x *index, answer Answer) ([]LeftOut, error) {
	omitted := e.omitted
	for i := range omitted {
		if omitted[i].confidence == 0 { // no part of a prompt computed it
			omitted[i].confidence = answer.Fit.confidence(omitted[i].relevance)
		}
	}
	returned := idsOf(answer.Memories)
	compared := !slices.Contains(answer.Degraded, partEmbedder)
	for i := range e.ranked {
		r := &e.ranked[i]
		if !slices.Contains(returned, r.id) {
			reason := cmp.Or(q.refusal(r, compared), BeyondLimit)
			if slices.Contains(e.former, r.id) {
				reason = Former
			}
			omitted = append(omitted, omission{relevant: *r, reason: reason})
		}
	}
	list := make([]scored, len(omitted))
	why := make(map[string]*omission, len(omitted))
	for i := range omitted {
		o := &omitted[i]
		list[i] = s.score(q, &o.relevant, x.counted(o.doc, x.docs[o.doc].importance), x.lastAccess(o.doc))
		why[o.id] = o
	}
	sortByScore(list)
	list = list[:min(MaxLeftOut, len(list))]
	rows := make(map[string]row, len(list))
	if err := s.readRows(ctx, q, x, rows, list, nil); err != nil {
		return nil, err
	}
	leftOut := make([]LeftOut, 0, len(list))
	for _, c := range s.scoreRows(q, x, rows, list) {
		o := why[c.id]
		out := LeftOut{Recalled: s.recalled(q, e.about, c, *rows[c.id].whole), Reason: o.reason, By: o.by}
		if out.Reason == BeyondLimit && q.isTooUnsure(out.Recalled) {
			out.Reason = TooUnsure
		}
		leftOut = append(leftOut, out)
	}
	return leftOut, nil
}
