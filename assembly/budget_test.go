package assembly

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Shares are rounded down, and the last part that has one takes the rest.
func TestSplit_DividesTheBudget(t *testing.T) {
	t.Parallel()
	std, reserve := presets["default"].Shares, presets["reserve"].Shares
	for _, c := range []struct {
		name   string
		shares Shares
		budget int
		want   [4]int // of Parts
	}{
		{"default of 1000", std, 1000, [4]int{100, 200, 300, 400}},
		{"default of 7", std, 7, [4]int{0, 1, 2, 4}},
		{"default of 1", std, 1, [4]int{0, 0, 0, 1}},
		{"default of 0", std, 0, [4]int{0, 0, 0, 0}},
		{"default of 10", std, 10, [4]int{1, 2, 3, 4}},
		{"reserve of 1000", reserve, 1000, [4]int{150, 150, 500, 200}},
		{"reserve of 97", reserve, 97, [4]int{14, 14, 48, 21}},
		{"not adding up to 1", Shares{Facts: 0.5, Memories: 0.25}, 90, [4]int{0, 60, 30, 0}},
		{"more than 1", Shares{Instructions: 1, Facts: 1, Memories: 1, Conversation: 1}, 10, [4]int{2, 2, 2, 4}},
		{"the last has none", Shares{Instructions: 1, Facts: 2}, 10, [4]int{3, 7, 0, 0}},
		{"none has any", nil, 5, [4]int{0, 0, 0, 5}},
		{"one", Shares{Memories: 0.001}, 5, [4]int{0, 0, 5, 0}},
	} {
		got := c.shares.Split(c.budget)
		if diff := cmp.Diff(c.want, [4]int{got[Instructions], got[Facts], got[Memories], got[Conversation]}); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if b, ok := Preset(""); !ok || b.Response != 0 || b.Shares[Conversation] != 0.4 {
		t.Errorf("the default is %+v", b)
	}
	if b, ok := Preset("reserve"); !ok || b.Response != 0.25 {
		t.Errorf("the reserve is %+v", b)
	}
	if _, ok := Preset("half"); ok {
		t.Error("there is a preset of any name")
	}
}

func TestModelRoom_LimitsWindows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		room                     Room
		window, response, budget int
		estimated                bool
	}{
		"characters":                     {Characters(500, 0), 500, 0, 500, false},
		"characters, a quarter kept":     {Characters(501, 0.25), 501, 126, 375, false},
		"tokens":                         {Tokens(1000, 0), 1000, 0, 1000, false},
		"tokens, a quarter kept":         {Tokens(1000, 0.25), 1000, 250, 750, false},
		"tokens, a tenth kept":           {Tokens(10, 0.1), 10, 1, 9, false},
		"one token":                      {Tokens(1, 0.25), 1, 1, 0, false},
		"a model's own reserve":          {ModelRoom("gpt-4o", 0, 0), 128000, 16384, 111616, false},
		"no more than a quarter":         {ModelRoom("o1", 0, 0), 200000, 50000, 150000, false},
		"a model, a tenth kept":          {ModelRoom("gpt-4o", 0, 0.1), 128000, 12800, 115200, false},
		"a model and fewer tokens":       {ModelRoom("gpt-4o", 4000, 0), 4000, 0, 4000, false},
		"... of which a quarter is kept": {ModelRoom("gpt-4o", 4000, 0.25), 4000, 1000, 3000, false},
		"a model and too many tokens":    {ModelRoom("gpt-4", 100000, 0), 6144, 0, 6144, false},
		"an estimated model":             {ModelRoom("deepseek-chat", 0, 0), 128000, 8192, 119808, true},
		"an unknown model":               {ModelRoom("grandma", 0, 0), 8192, 2048, 6144, true},
	} {
		if r := c.room; r.Window != c.window || r.Response != c.response || r.Budget() != c.budget ||
			r.Estimated != c.estimated {
			t.Errorf("%s: %+v with a budget of %d", name, r, r.Budget())
		}
	}
}
