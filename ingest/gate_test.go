package ingest

import (
	"strings"
	"testing"

	"hippocampus/internal/memory"
	"hippocampus/internal/secret"
	"hippocampus/scorer"
)

// Words of another voice become a candidate with the reason why they are no fact of the user. No threshold lets such a
// candidate pass.
func TestGate_RefusesWordsOfAnotherVoice(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Scorer = scorer.NewRules()
	b.set.Threshold = 0
	o := b.turn("> I live in Ohio.\nI'm a nurse.")
	if len(o.Candidates) != 2 || len(b.memories()) != 1 {
		t.Fatalf("%+v", o.Candidates)
	}
	if own := o.Candidates[0]; own.Verdict != memory.Kept || own.Content != "I'm a nurse." {
		t.Errorf("own words: %+v", own)
	}
	if other := o.Candidates[1]; other.Verdict != memory.BelowThreshold || other.Importance != 0 ||
		other.Reason != "said by another voice: a quote" || other.Content != "> I live in Ohio." {
		t.Errorf("words of another voice: %+v", other)
	}
}

// A statement from which a secret was cut, and which is no fact without it, becomes a candidate that says so.
func TestGate_NamesWhatLacksASecret(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Scorer = scorer.NewRules()
	o := b.turn("The code of my bike lock is " + secret.Mark + ".")
	if len(o.Candidates) != 1 || len(b.memories()) != 0 {
		t.Fatalf("%+v", o.Candidates)
	}
	if c := o.Candidates[0]; c.Verdict != memory.BelowThreshold || !strings.HasPrefix(c.Reason, becauseSecret+": ") {
		t.Errorf("%+v", c)
	}
}
