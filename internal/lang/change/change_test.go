package change

import "testing"

func TestOf_CountsCues(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]Cues{
		"Sold the house, and we're in Sligo for good now.": {Strong: 2},
		"I’ve moved on from ramen.":                        {Strong: 1, Weak: 1},
		"The new flat has a balcony.":                      {Weak: 1},
		"I live in Utrecht.":                               {},
		"I know nowhere better.":                           {}, // "now" within words
		"换号了，新号码是13900000002。":                             {Strong: 1, Weak: 2},
		"昨天过了29岁生日。":                                       {Weak: 2},
		"面条好吃了又好吃":                                         {Weak: 1}, // 又, and no 了 at an end
		"我住在苏州。":                                           {},
		"Netflix haben wir gekündigt.":                     {Strong: 1},
		"Ich bin jetzt nicht mehr in Los Angeles.":         {Strong: 2, Weak: 1},
		"My doctor took me off metformin.":                 {Strong: 1, Weak: 1},
		"":                                                 {},
	} {
		if got := Of(said); got != want {
			t.Errorf("%q: %+v, want %+v", said, got, want)
		}
	}
}

func TestIsOfOthers_NamesWhomTheEarlierTextLacks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said, earlier string
		want          bool
	}{
		{"My brother turned thirty.", "I'm 27.", true},
		{"My brother turned thirty.", "My brother is 29.", false},
		{"I turned thirty.", "I'm 29.", false},
		{"我弟弟昨天满三十了。", "我四十岁了。", true},
		{"我弟弟昨天满三十了。", "我弟弟二十九。", false},
	} {
		if got := IsOfOthers(c.said, c.earlier); got != c.want {
			t.Errorf("%q after %q: %t, want %t", c.said, c.earlier, got, c.want)
		}
	}
}
