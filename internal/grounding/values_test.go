package grounding

import (
	"testing"
	"time"
)

func TestHasNumber_HasWhatTheTextHas(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]map[float64]bool{
		"I have two kids and a dog.":     {2: true, 1: false, 3: false},
		"My budget is 1,500.50 a month.": {1500.5: true, 1500: false, 1501: false},
		"我有三个孩子。":                        {3: true, 2: false},
		"I run 60 and swim 50.":          {110: false},
		"Flat 12, since 2019":            {12: true, 2019: true, 19: false, 0: false},
	} {
		has := Read(Source{Text: said})
		for number, has1 := range want {
			if has.HasNumber(number) != has1 {
				t.Errorf("%s: %v is %t", said, number, !has1)
			}
		}
	}
}

func TestHasDay_NeedsTheWholeDay(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"I was born on 5 May 1990.": true, "Born May 5, 1990": true, "Birthday: 1990-05-05": true, "我1990年5月5日出生。": true,
		"My birthday is 5 May.": false, "I was born in May 1990, at 5.": false, "I was born in 1990.": false,
		"I was born on 6 May 1990.": false, "I was born yesterday.": false, "5 things happened in May, and 1990 more.": false,
	} {
		has := Read(Source{Text: said, At: time.Date(1990, 5, 5, 8, 0, 0, 0, time.UTC)})
		if has.HasDay(time.Date(1990, 5, 5, 0, 0, 0, 0, time.UTC)) != want {
			t.Errorf("%s: want %t", said, want)
		}
	}
}

func TestIsPlain_LeavesOutDenialsAndWishes(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"I live in Porto.": true, "Lives in Porto and works as a nurse.": true, "我住在里斯本。": true,
		"I don't eat pork.": false, "I might move to Porto.": false, "I want to learn Greek.": false,
		"If I move, then to Porto.": false, "Is it Porto?": false, "我不吃猪肉。": false,
	} {
		if IsPlain(said) != want {
			t.Errorf("%s: want %t", said, want)
		}
	}
}
