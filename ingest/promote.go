package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/statement"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// MaxPromoted bounds the candidates of one promotion.
const MaxPromoted = 100

const byPromotion = "promotion"

// Promotion selects candidates of an app that the gate has refused: those with IDs, or those
// of a user that were below the threshold.
type Promotion struct {
	AppID         string
	IDs           []string // at most MaxPromoted; each below_threshold or echo
	UserID        string   // without IDs
	MinImportance float64  // without IDs
}

// Promoted is the result for one candidate: its new verdict and memory, or Err.
type Promoted struct {
	CandidateID string
	Verdict     memory.Verdict
	Reason      string
	MemoryID    string
	Err         error // KindNotFound: the app has no such candidate; KindConflict: it is not a fact, or was forgotten
}

// Promote makes memories of candidates. It asks the embedder and no chat model. A candidate
// that says the same as an active memory is merged into it, and one that has a memory
// already is left unchanged. Each user's part is one transaction. more reports whether the
// user has further candidates, with which the same call continues.
func (s *Service) Promote(ctx context.Context, p Promotion) (results []Promoted, more bool, err error) {
	proposals, err := s.proposals(ctx, p)
	if err != nil {
		return nil, false, err
	}
	if more = len(proposals) > MaxPromoted; more {
		proposals = proposals[:MaxPromoted]
	}
	ids := p.IDs
	if ids == nil {
		for _, proposal := range proposals {
			ids = append(ids, proposal.ID)
		}
	}
	outcome := map[string]Promoted{}
	var owners []memory.Owner
	refused := map[memory.Owner][]db.Proposal{}
	for _, proposal := range proposals {
		switch proposal.Verdict {
		case memory.BelowThreshold, memory.Echo:
			if refused[proposal.Owner] == nil {
				owners = append(owners, proposal.Owner)
			}
			refused[proposal.Owner] = append(refused[proposal.Owner], proposal)
		case memory.InvalidAnswer:
			outcome[proposal.ID] = Promoted{Err: memory.Errorf(memory.KindConflict,
				"candidate %s is a refused answer of the scorer, or a part of one, and not a fact: see its reason", proposal.ID)}
		default:
			outcome[proposal.ID] = Promoted{Verdict: proposal.Verdict, Reason: proposal.Reason, MemoryID: proposal.MemoryID}
		}
	}
	var stop stopping
	for _, owner := range owners {
		err := stop.unless(func() error { return s.promote(ctx, owner, refused[owner], outcome) })
		if err != nil {
			for _, proposal := range refused[owner] {
				outcome[proposal.ID] = Promoted{Err: err}
			}
		}
	}
	for _, id := range ids {
		result, known := outcome[id]
		if !known {
			result.Err = memory.Errorf(memory.KindNotFound, "there is no candidate %s: see GET /v1/candidates", id)
		}
		result.CandidateID = id
		results = append(results, result)
	}
	succeeded := func(p Promoted) bool { return p.Err == nil }
	return results, more && slices.ContainsFunc(results, succeeded), nil
}

// proposals reads the selected candidates; for a user, one more than MaxPromoted, so that the
// caller knows whether there are more.
func (s *Service) proposals(ctx context.Context, p Promotion) ([]db.Proposal, error) {
	if p.IDs != nil {
		return s.Records.Proposals(ctx, p.AppID, p.IDs)
	}
	return s.Records.ListCandidates(ctx, db.CandidateFilter{
		AppID: p.AppID, UserID: p.UserID, Verdict: memory.BelowThreshold, MinImportance: p.MinImportance,
		Limit: MaxPromoted + 1,
	})
}

// admitted returns the candidates of an owner without those of whose conversations nothing new is kept.
func (s *Service) admitted(
	ctx context.Context, owner memory.Owner, proposals []db.Proposal, outcome map[string]Promoted,
) (admitted []db.Proposal, err error) {
	known := map[string]memory.ModeSetting{}
	for _, p := range proposals {
		set, ok := known[p.ConversationID]
		if !ok {
			if set, err = s.Records.ModeOf(ctx, owner, p.ConversationID); err != nil {
				return nil, err
			}
			known[p.ConversationID] = set
		}
		if !set.Keeps() {
			outcome[p.ID] = Promoted{Err: set.Refusal(owner, p.ConversationID)}
			continue
		}
		admitted = append(admitted, p)
	}
	return admitted, nil
}

// promote makes memories of one owner's candidates, the earliest statement first.
func (s *Service) promote(
	ctx context.Context, owner memory.Owner, proposals []db.Proposal, outcome map[string]Promoted,
) error {
	proposals, err := s.admitted(ctx, owner, proposals, outcome)
	if err != nil || len(proposals) == 0 {
		return err
	}
	proposals, turns, err := s.withoutForgotten(ctx, proposals, outcome)
	if err != nil || len(proposals) == 0 {
		return err
	}
	slices.SortFunc(proposals, func(a, b db.Proposal) int {
		return cmp.Or(a.SaidAt.Compare(b.SaidAt), cmp.Compare(a.ID, b.ID))
	})
	if proposals, err = s.withoutNever(ctx, owner.AppID, proposals, outcome); err != nil || len(proposals) == 0 {
		return err
	}
	facts := make([]memory.Memory, len(proposals))
	for i, p := range proposals {
		facts[i] = factOf(p.Candidate, memory.Turn{
			ID: p.TurnID, Owner: owner, AgentID: p.AgentID, ConversationID: p.ConversationID, At: p.SaidAt,
			Messages: turns[p.TurnID].Messages, Shared: turns[p.TurnID].Shared,
		})
	}
	facts, err = s.complete(ctx, facts)
	if err != nil {
		return err
	}
	_, err = s.Writer.Write(ctx, write.Batch{
		Owner: owner, Cause: byPromotion, Drafts: draftsOf(facts, write.WithoutModel),
		First: func(ctx context.Context, tx db.UserTx) error {
			for _, p := range proposals {
				turn, _, err := tx.RecordedTurn(ctx, p.TurnID)
				if err := cmp.Or(err, refuseWithdrawn(turn)); err != nil {
					return err
				}
			}
			return nil
		},
		Also: func(ctx context.Context, tx db.UserTx, _ *history.Recorder, written []write.Written) error {
			for i, p := range proposals {
				c := p.Candidate
				settle(&c, written[i])
				c.Reason = fmt.Sprintf("promoted although %s; %s", p.Reason, c.Reason)
				if err := tx.SettleCandidate(ctx, c); err != nil {
					return err
				}
				if err := noteWanted(ctx, tx, p, c.MemoryID, memory.Instant(s.Now())); err != nil {
					return err
				}
				outcome[p.ID] = Promoted{Verdict: c.Verdict, Reason: c.Reason, MemoryID: c.MemoryID}
			}
			return nil
		},
	})
	return err
}

// noteWanted notes that a candidate which the gate refused for its importance became a memory by hand.
func noteWanted(ctx context.Context, tx db.UserTx, p db.Proposal, memoryID string, at time.Time) error {
	if p.Verdict != memory.BelowThreshold || !strings.HasPrefix(p.Reason, becauseImportance) {
		return nil
	}
	_, err := tx.AddFeedback(ctx, []memory.Feedback{{
		Owner: p.Owner, SourceID: p.ID, MemoryID: memoryID, Kind: memory.FeedbackPromoted, Score: p.Importance, At: at,
	}})
	return err
}

// withoutNever returns the candidates that the app's policy may keep. The others get the outcome KindConflict.
func (s *Service) withoutNever(
	ctx context.Context, appID string, proposals []db.Proposal, outcome map[string]Promoted,
) (left []db.Proposal, err error) {
	rules, err := s.policyOf(ctx, appID)
	if err != nil {
		return nil, err
	}
	for _, p := range proposals {
		fact := scorer.Fact{Content: p.Content, Type: p.Type, Domain: p.Domain}
		if rule := rules.Judge(fact).Never; rule != "" {
			outcome[p.ID] = Promoted{Err: memory.Errorf(memory.KindConflict, "%s never keeps candidate %s: %s",
				named(rules), p.ID, rule)}
			continue
		}
		left = append(left, p)
	}
	return left, nil
}

// refuseWithdrawn refuses to make memories of a withdrawn turn.
func refuseWithdrawn(t memory.Turn) error {
	if t.Status != memory.TurnWithdrawn {
		return nil
	}
	return memory.Errorf(memory.KindConflict, "turn %s was withdrawn at %s: what it states is no memory any more",
		t.ID, t.WithdrawnAt.Format(time.RFC3339))
}

// withoutForgotten returns the candidates that state nothing that was forgotten of their turn, and the turns by id. The
// others get the outcome KindConflict.
func (s *Service) withoutForgotten(
	ctx context.Context, proposals []db.Proposal, outcome map[string]Promoted,
) (left []db.Proposal, turns map[string]memory.Turn, err error) {
	turns = map[string]memory.Turn{}
	for _, p := range proposals {
		turn, known := turns[p.TurnID]
		if !known {
			if turn, err = s.Records.Turn(ctx, p.Owner.AppID, p.TurnID); err != nil {
				return nil, nil, err
			}
			turns[p.TurnID] = turn
		}
		if err := refuseWithdrawn(turn); err != nil {
			outcome[p.ID] = Promoted{Err: err}
			continue
		}
		i := slices.IndexFunc(turn.Withheld, func(w memory.Withheld) bool { return statement.IsIn(p.Content, w.Text) })
		if i < 0 {
			left = append(left, p)
			continue
		}
		w := turn.Withheld[i]
		if w.Statement == "" {
			outcome[p.ID] = Promoted{Err: memory.Errorf(memory.KindConflict,
				"candidate %s states what version %d of the app's policy never keeps", p.ID, w.Policy)}
			continue
		}
		outcome[p.ID] = Promoted{Err: memory.Errorf(memory.KindConflict,
			"candidate %s states what was forgotten at %s with memory %s: restore that memory first",
			p.ID, w.At.Format(time.RFC3339), w.Statement)}
	}
	return left, turns, nil
}
