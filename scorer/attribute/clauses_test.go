package attribute

import (
	"slices"
	"strings"
	"testing"
)

func TestClauses_StandByThemselves(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		"I live in Lisbon and work as a marine biologist.":      "I live in Lisbon.|I work as a marine biologist.",
		"We live in Faro, and I'm a nurse!":                     "We live in Faro!|I'm a nurse!",
		"i live in porto and work at Siemens":                   "i live in porto|i work at Siemens",
		"I'm Nora, I moved to Faro in May and I work as a vet.": "I'm Nora.|I moved to Faro in May.|I work as a vet.",
		"My name is Nora and I live in Porto.":                  "My name is Nora.|I live in Porto.",
		"Hi, I'm 34 and live in Porto.":                         "I'm 34.|I live in Porto.",
		"I'm 34, a nurse, and live in Porto.":                   "I'm 34.|I'm a nurse.|I live in Porto.",
		"I'm originally from Brazil but I live in Canada.":      "I'm originally from Brazil.|I live in Canada.",
		"I live in Faro with Ana and two kids, and I love jazz": "I live in Faro with Ana and two kids|I love jazz",
		"我住在里斯本,是一名海洋生物学家。":                                     "我住在里斯本。|我是一名海洋生物学家。",
		"我是护士，住在上海，今年34岁":                                       "我是护士|我住在上海|我今年34岁",
		"你好，我叫林晓，我对花生过敏。":                                       "我叫林晓。|我对花生过敏。",
	} {
		if got := Clauses(statement); !slices.Equal(got, strings.Split(want, "|")) {
			t.Errorf("%q: %q, want %q", statement, got, want)
		}
	}
}

func TestClauses_LeaveWholeWhatIsNotSafeToCut(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{
		"I live and work in Lisbon.",
		"I live in Lisbon and Porto.",
		"I live in Lisbon and I live in Porto at weekends.",
		"I'm a nurse and a teacher.",
		"I love jazz and I play the piano.",
		"My sister lives in Lisbon and works as a nurse.",
		"My sister lives in Lisbon and I work as a nurse.",
		"I live in Lisbon, my husband is German and works at Siemens.",
		"I want to live in Lisbon and work as a nurse.",
		"I used to live in Rome and work as a chef.",
		"If I get the offer, I live in Lisbon and I work as a nurse.",
		"I live in Lisbon, and if I get the offer, I work at Siemens.",
		"I live with friends who are engineers and work at Siemens.",
		`She said: "I live in Lisbon and I work as a nurse."`,
		"I moved to Berlin and I love it.",
		"I live in Lisbon and I work there as a nurse.",
		"Remember that I live in Lisbon and work as a nurse.",
		"我妹妹住在上海，在银行工作。",
		"我住在杭州，养了一只猫，叫年糕。",
		"我养了一只猫，叫年糕，今年三岁。",
		"我住在上海，我妹妹是护士。",
		"我住在上海，喜欢那里的面。",
		"如果我住在上海，我是护士。",
		"我喜欢爵士乐，也弹钢琴。",
	} {
		if got := Clauses(statement); len(got) != 1 || got[0] != statement {
			t.Errorf("%q is cut: %q", statement, got)
		}
	}
}

func TestClaimsOwn_NeedsTheUserAsTheSubject(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]bool{
		"I am a nurse.":                          true,
		"My mobile number is 0612345678.":        true,
		"Hi, I turned 45 today.":                 true,
		"我的电话是13800001111。":                      true,
		"My sister lives in Lisbon.":             false,
		"If I get the offer, I live in Lisbon.":  false,
		`She wrote: "I live in Ohio."`:           false,
		"如果我有钱，我就住在巴黎":                           false,
		"I am 5 minutes late.":                   false,
		"I moved to the next question.":          false,
		"He asked whether I live in Utrecht.":    false,
		"The nurse says that I live in Utrecht.": false,
	} {
		if got := ClaimsOwn(statement); got != want {
			t.Errorf("%q: %t, want %t", statement, got, want)
		}
	}
}
