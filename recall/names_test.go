package recall

import (
	"slices"
	"testing"
)

func TestNamesIn_ReturnsCapitalisedWordsAndChineseNames(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"Where does Ada work?":                     {"Ada"},
		"What did Nora's sister see in New York?":  {"Nora's", "New", "York"},
		"when is it, in July 2023 or on Monday?":   nil,
		"Tell me more. Then stop.":                 nil,
		"WHERE DOES SHE WORK":                      nil,
		"where does ada work":                      nil,
		"她在哪里工作？":                                  nil,
		"我永远记得明天去英国学英文，美丽的月亮":                      {"英国"},
		"王小丽和志强什么时候见李娜？":                           {"志强", "李娜"},
		"Tom 和赵磊去哪儿？":                              {"赵磊"},
		"Wo arbeitet meine Schwester in Lissabon?": {"Schwester", "Lissabon"},
	} {
		if got := namesIn(query); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

func TestFit_KnowsChineseNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("赵磊在上海当医生", nil, true)
	for query, want := range map[string]float64{"赵磊住在哪座城市？": 0, "志远住在哪座城市？": 1, "志远认识赵磊吗？": 0.5} {
		if fit := f.recall(Query{Text: query}).Fit; fit.UnknownNames != want {
			t.Errorf("%s: unknown names %v, want %v", query, fit.UnknownNames, want)
		}
	}
}
