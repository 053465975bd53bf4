package learning

import (
	"context"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Of returns a threshold of an app. While learning is off, it is that of the setting. A step that another server takes
// is served within servedAge.
func (s *Service) Of(ctx context.Context, appID string, name memory.ThresholdName) (memory.Threshold, error) {
	rule := s.rules[name]
	if !s.Enabled {
		return memory.Threshold{Value: rule.Setting}, nil
	}
	key := servedKey{appID, name}
	now := s.now()
	s.mu.Lock()
	k, ok := s.served[key]
	s.mu.Unlock()
	if ok && now.Before(k.until) && k.until.Sub(now) <= servedAge { // a clock may be set back
		return k.Threshold, nil
	}
	steps, err := s.records.ThresholdSteps(ctx, appID, name, 1)
	if err != nil {
		return memory.Threshold{}, err
	}
	return s.keep(key, rule, steps), nil
}

// keep keeps the threshold after the newest of the steps in memory.
func (s *Service) keep(key servedKey, rule Rule, steps []memory.ThresholdStep) memory.Threshold {
	t := memory.Threshold{Value: rule.Setting}
	if len(steps) > 0 && !steps[0].Reset {
		t = memory.Threshold{Value: rule.Within(steps[0].Value), Learned: steps[0].At}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.served) >= mostServed {
		clear(s.served)
	}
	s.served[key] = served{t, s.now().Add(servedAge)}
	return t
}

const (
	servedAge  = 5 * time.Second
	mostServed = 10_000 // thresholds that are kept in memory
)

type servedKey struct {
	appID string
	name  memory.ThresholdName
}

type served struct {
	memory.Threshold
	until time.Time
}

// State is a threshold of an app, with what it would do next.
type State struct {
	Name memory.ThresholdName
	memory.Threshold
	Rule
	Counted
	Next  float64                // after the next run
	Why   string                 // it is Next
	Steps []memory.ThresholdStep // the newest mostSteps, newest first
}

const mostSteps = 100

// States lists the thresholds of an app. While learning is off, Next is what the next run would do if it were on.
func (s *Service) States(ctx context.Context, appID string) (states []State, err error) {
	for _, name := range memory.ThresholdNames {
		state, err := s.state(ctx, appID, name, mostSteps)
		if err != nil {
			return nil, err
		}
		states = append(states, state)
	}
	return states, nil
}

func (s *Service) state(ctx context.Context, appID string, name memory.ThresholdName, steps int) (State, error) {
	found, err := s.records.ThresholdSteps(ctx, appID, name, steps)
	if err != nil {
		return State{}, err
	}
	state := State{Name: name, Rule: s.rules[name], Steps: found}
	state.Threshold = memory.Threshold{Value: state.Setting}
	if s.Enabled {
		state.Threshold = s.keep(servedKey{appID, name}, state.Rule, found)
	}
	now := s.now()
	after := now.Add(-evidenceAge)
	if len(found) > 0 && found[0].At.After(after) {
		after = found[0].At
	}
	for _, a := range arguments[name] {
		pieces, err := s.records.Evidence(ctx, db.EvidenceFilter{
			AppID: appID, Kind: a.kind, After: after, Limit: mostEvidence,
		})
		if err != nil {
			return State{}, err
		}
		for _, p := range pieces {
			switch near := state.isNear(p.Score, state.Value, a.below); {
			case near && a.lower:
				state.Lower++
			case near:
				state.Higher++
			}
		}
	}
	state.decide()
	return state, nil
}

// decide says what the next run does, on a day on which the threshold has not moved yet.
func (t *State) decide() {
	t.Next = t.Rule.Next(t.Value, t.Counted)
	surplus := max(t.Lower-t.Higher, t.Higher-t.Lower)
	switch {
	case surplus < t.Evidence:
		t.Why = fmt.Sprintf("%d for lower and %d for higher since the last step: one has to outweigh the other by %d",
			t.Lower, t.Higher, t.Evidence)
	case t.Next == t.Value:
		t.Why = fmt.Sprintf("it has come as far from the setting as it may, by %g", t.Range)
	default:
		t.Why = fmt.Sprintf("%d for lower and %d for higher since the last step", t.Lower, t.Higher)
	}
}

// Run moves the thresholds of every app that has feedback by at most one step, and returns how many have moved. A step
// that another server takes at the same time is not taken twice.
func (s *Service) Run(ctx context.Context) (moved int, err error) {
	for appID := ""; ; {
		if appID, err = s.records.NextAppWithFeedback(ctx, appID); err != nil || appID == "" {
			return moved, err
		}
		for _, name := range memory.ThresholdNames {
			state, err := s.state(ctx, appID, name, 1)
			if err != nil {
				return moved, err
			}
			hasMoved := len(state.Steps) > 0 && db.DayOf(state.Steps[0].At) == db.DayOf(s.now())
			if hasMoved || state.Next == state.Value {
				continue
			}
			if err := s.step(ctx, appID, state, state.Next, false); err != nil {
				if memory.IsKind(err, memory.KindConflict) {
					continue
				}
				return moved, err
			}
			moved++
		}
	}
}

func (s *Service) step(ctx context.Context, appID string, state State, value float64, reset bool) error {
	step := memory.ThresholdStep{
		AppID: appID, Name: state.Name, Number: 1, Was: state.Value, Value: value, Reset: reset, Lower: state.Lower,
		Higher: state.Higher, At: memory.Instant(s.now()),
	}
	if len(state.Steps) > 0 {
		step.Number = state.Steps[0].Number + 1
	}
	if err := s.records.AddThresholdStep(ctx, step); err != nil {
		return err
	}
	s.keep(servedKey{appID, state.Name}, state.Rule, []memory.ThresholdStep{step})
	return nil
}

// Reset lets the settings serve again. What was evidence until now does not count any more.
func (s *Service) Reset(ctx context.Context, appID string) ([]State, error) {
	states, err := s.States(ctx, appID)
	if err != nil {
		return nil, err
	}
	for _, state := range states {
		if err := s.step(ctx, appID, state, state.Setting, true); err != nil {
			return nil, err
		}
	}
	return s.States(ctx, appID)
}
