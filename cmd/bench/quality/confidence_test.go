package quality

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestInForm_ReplacesTheSpeakers(t *testing.T) {
	t.Parallel()
	english := conversation{Lang: "en", Turns: []turn{{Speaker: "Ana"}, {Speaker: "Ben"}}}
	other := conversation{Lang: "en", Turns: []turn{{Speaker: "Cleo"}}}
	chinese := conversation{Lang: "zh", Turns: []turn{{Speaker: "陈博文"}, {Speaker: "吴倩"}}}
	for _, c := range []struct {
		text    string
		form    Form
		from    conversation
		about   conversation
		want    string
		changed bool
	}{
		{text: "Is Ana's dog Ben's?", form: AsAsked, from: english, about: other, want: "Is Ana's dog Ben's?", changed: true},
		{text: "Is Ana's dog Ben's?", form: FirstPerson, from: english, about: other, want: "Is my dog my?", changed: true},
		{text: "Is Ana's dog big?", form: Renamed, from: english, about: other, want: "Is Cleo's dog big?", changed: true},
		{text: "Who barks?", form: Renamed, from: english, about: other, want: "Who barks?"},
		{text: "博文住哪？", form: FirstPerson, from: chinese, about: chinese, want: "我住哪？", changed: true},
	} {
		got, changed := question{Text: c.text}.inForm(c.form, c.from, c.about)
		if got != c.want || changed != c.changed {
			t.Errorf("%s, %s: got %s, %v", c.text, c.form, got, changed)
		}
	}
}

func TestTradeOff_CountsHeldOutUsers(t *testing.T) {
	t.Parallel()
	doubts := []Doubt{
		{Conversation: "x", Language: "en", Form: AsAsked, Own: true, Evidence: []float64{0.12, 0.9}},
		{Conversation: "x", Language: "en", Form: AsAsked, Best: 0.1},
		{Conversation: "x", Language: "en", Form: AsAsked, Best: 0.22},
		{Conversation: FittedOn[0], Language: "en", Form: AsAsked, Best: 0.9},
		{Conversation: "x", Language: "zh", Form: AsAsked, Best: 0.9},
	}
	list := tradeOffs(doubts)
	if len(list) != 1 {
		t.Fatalf("rows: %+v", list)
	}
	got := list[0]
	if got.Evidence != 2 || got.Foreign != 2 || !got.HeldOut {
		t.Errorf("counts: %+v", got)
	}
	if want := []float64{0, .5, .5, 1, 1, 1, 1}; !slices.Equal(got.Rejected, want) {
		t.Errorf("rejected %v, want %v", got.Rejected, want)
	}
	if want := []float64{1, .5, .5, .5, .5, .5, .5}; !slices.Equal(got.Kept, want) {
		t.Errorf("kept %v, want %v", got.Kept, want)
	}
}

func TestRegress_FindsTheCoefficientsOfItsExamples(t *testing.T) {
	t.Parallel()
	want := Coefficients{-1, 1, 1, -1, -0.5} // small, since the penalty shrinks large ones more
	random := rand.New(rand.NewPCG(1, 2))
	var examples []example
	for range 20_000 {
		e := example{weight: 1, values: Signals{
			Closeness: random.Float64() * 2, Coverage: random.Float64(), UnknownNames: random.Float64(),
			Memories: 10 + random.IntN(990),
		}.values()}
		logit := 0.0
		for i, v := range e.values {
			logit += want[i] * v
		}
		e.own = random.Float64() < 1/(1+math.Exp(-logit))
		examples = append(examples, e)
	}
	for i, got := range regress(examples) {
		if math.Abs(got-want[i]) > 0.25 {
			t.Errorf("%s: got %.2f, want %.2f", coefficientNames[i], got, want[i])
		}
	}
}
