package years

import (
	"io"
	"testing"
)

func TestRun_CountsForgottenAndKeptMemories(t *testing.T) {
	t.Parallel()
	base := Options{Years: 2, Turns: 20, Topics: 100}
	for name, c := range map[string]struct {
		recalled   int
		settings   []string
		least, top int // active memories after the last year
	}{
		// The default rule keeps a message of the user 20 days, an answer 18 and a fact 21: 20*(20+18+21/2) memories.
		"nothing is recalled":     {0, nil, 900, 980},
		"recalled ones stay":      {10, nil, 3000, 12_000},
		"memories.max_per_user":   {10, []string{"HIPPOCAMPUS_MEMORIES_MAX_PER_USER=1000"}, 900, 1000},
		"nothing is forgotten":    {0, []string{"HIPPOCAMPUS_FORGETTING_MAX_SHARE=0"}, 36_500, 36_500},
		"a slower rule of fading": {0, []string{"HIPPOCAMPUS_FORGETTING_BASE=0.95"}, 1800, 2100},
	} {
		o := base
		o.Recalled, o.Settings = c.recalled, c.settings
		r, err := Run(o)
		if err != nil {
			t.Fatal(err)
		}
		last := r.Years[1]
		if last.Turns != 14_600 || last.Written != 36_500 || last.Rows < last.Active || last.Facts > last.Active {
			t.Errorf("%s: %+v", name, last)
		}
		if last.Active < c.least || last.Active > c.top {
			t.Errorf("%s: %d memories are active, not %d to %d", name, last.Active, c.least, c.top)
		}
		if err := r.Print(io.Discard); err != nil {
			t.Error(err)
		}
	}
	base.Recalled, base.Settings = 10, []string{"HIPPOCAMPUS_MESSAGES_KEEP=240h"}
	r, err := Run(base)
	if err != nil {
		t.Fatal(err)
	}
	if last := r.Years[1]; last.Active-last.Facts > 20*2*10 || last.Facts < 1000 {
		t.Errorf("messages are kept ten days: %+v", last)
	}
	if _, err := Run(Options{Years: 1, Settings: []string{"HIPPOCAMPUS_FORGETTING_BASE=2"}}); err == nil {
		t.Error("a wrong setting is taken")
	}
}
