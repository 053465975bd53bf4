package attribute

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// pair is a line of the pairs with which the judge is tested too. They were written before this package.
type pair struct{ language, half, kind, attribute, older, newer string }

func pairs(t *testing.T) (list []pair) {
	t.Helper()
	file, err := os.ReadFile("../../ingest/judge/testdata/pairs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		list = append(list, pair{language: f[0], half: f[1], kind: f[2], attribute: f[3], older: f[4], newer: f[5]})
	}
	return list
}

// The rules were made with the pairs of the half "dev".
func TestContradicted_FindsWhatIsSaidLater(t *testing.T) {
	t.Parallel()
	type group struct{ language, half string }
	found, all := map[group]int{}, map[group]int{}
	for _, p := range pairs(t) {
		_, contradicted := Contradicted(Of(p.older), Of(p.newer))
		g := group{p.language, p.half}
		switch {
		case p.kind == "related" && contradicted:
			t.Errorf("%s contradicts %s: %v, %v", p.newer, p.older, Of(p.older), Of(p.newer))
		case p.kind == "contradicts":
			all[g]++
			if contradicted {
				found[g]++
			}
		}
	}
	for g, n := range all {
		t.Logf("%v: %d of %d", g, found[g], n)
		if float64(found[g]) < 0.7*float64(n) || n != 20 {
			t.Errorf("%v: %d of %d contradictions found", g, found[g], n)
		}
	}
}

func TestContradicted_ComparesAcrossLanguages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		older, newer string
		want         bool
	}{
		{older: "我住在里斯本。", newer: "I moved to Lisbon."},
		{older: "我住在里斯本。", newer: "我搬到了波尔图。", want: true},
		{older: "我今年34岁。", newer: "I'm 35 now.", want: true},
		{older: "I moved to Lisbon.", newer: "我住在杭州。", want: true},
		{older: "我住在杭州西湖区。", newer: "I moved to Lisbon.", want: true},
		{older: "我住在杭州西湖区。", newer: "I live in Hangzhou."},
		{older: "I live in Lisbon.", newer: "我搬到了义乌。", want: true},
		{older: "I live in Kettering.", newer: "我住在义乌。"}, // neither is listed
		{older: "I live in Hong Kong.", newer: "我住在香港。"},
		{older: "I live in Britain.", newer: "我住在英国。"},
		{older: "We live in the United States.", newer: "我住在美国。"},
		{older: "I work as a nurse.", newer: "我是一名律师。", want: true},
		{older: "我是一名小学老师。", newer: "I work as an accountant now.", want: true},
		{older: "I'm a teacher.", newer: "我是一名小学老师。"},
		{older: "I'm a physician.", newer: "我是外科医生。"},
		{older: "I'm a developer.", newer: "我是一名程序员。"},
		{older: "I work at Google.", newer: "我在腾讯上班。", want: true},
		{older: "I work at Google.", newer: "我在谷歌公司上班。"},
		{older: "I work at Google.", newer: "我在Google上班。"},
		{older: "I work at Google.", newer: "我在一家互联网企业上班。"},
		{older: "Please answer in English.", newer: "以后请用中文回答我。", want: true},
		{older: "Please answer me in Mandarin.", newer: "以后请用普通话回答我。"},
		{older: "我是单身。", newer: "I'm married now.", want: true},
		{older: "My name is Tom.", newer: "我叫王伟。"}, // many have a name in each language
	} {
		if _, got := Contradicted(Of(c.older), Of(c.newer)); got != c.want {
			t.Errorf("%s, then %s: %t", c.older, c.newer, got)
		}
	}
}

func TestOf_ReadsTheUsersPresent(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		"i live in porto now":                          "home porto",
		"Moved to Shanghai.":                           "home shanghai",
		"The user's home city is Porto.":               "home porto",
		"The user's place of residence is Faro.":       "home faro",
		"The user's favourite city is Rome.":           "",
		"用户的居住城市是上海。":                                  "home 上海",
		"Paul and I got married, I'm a chef now.":      "relationship status married, job chef",
		"User joined the city council last week.":      "employer city council",
		"We moved from Chicago to Denver.":             "home denver",
		"I'm thirty-four.":                             "age 34",
		"I am no longer vegan":                         "",
		"My work email is a@b.test":                    "e-mail address a@b.test",
		"I moved again: since Monday I live in Porto.": "home porto",
		"Let's switch to Spanish.":                     "preferred language spanish",
		"我住在里斯本。":                                      "home 里斯本",
		"我在银行工作，住在杭州。":                                 "employer 银行, home 杭州",
		"我在腾讯上班。":                                      "employer 腾讯",
		"我在Google上班。":                                  "employer google",
		"我在杭州上班。":                                      "",
		"请打我的新电话010-5550199。":                          "telephone number 0105550199",

		// Other people, the past, plans, side jobs, and words that look like claims.
		"My sister lives in Lisbon and works at Siemens.":  "",
		"Ana's parents moved to Spain and live in Madrid.": "",
		"Melanie paints and works as an artist.":           "",
		"I used to live in Rome.":                          "",
		"I'd love to live in Rome.":                        "",
		"I told her: I live in Rome.":                      "",
		"Do you live in Rome?":                             "",
		"We moved the meeting to Monday.":                  "",
		"We moved to Slack.":                               "",
		"I joined a gym.":                                  "",
		"I'm seeing some progress.":                        "",
		"I'm engaged in local politics.":                   "",
		"I'm single-handedly raising two kids.":            "",
		"I have a dentist appointment on Thursday.":        "",
		"I'm a volunteer firefighter at weekends.":         "",
		"I have seven.":                                    "",
		"I'm 5 minutes away.":                              "",
		"I called Anna yesterday.":                         "",
		"I'm eating vegetarian lasagna tonight.":           "",
		"I prefer to watch films in French.":               "",
		"My boss answers me in English.":                   "",
		"My credit card number is 4111 1111 1111 1111.":    "",
		"我妹妹住在上海，在银行工作。":                                   "",
		"他结婚了，叫我去喝喜酒。":                                     "",
		"林夕然是兽医，在诊所上班。":                                    "",
		"忙不过来，招了个义工，法国小伙子，叫卢卡。":                            "",
		"客户希望我用英文回复。":                                      "",
		"我是来看医生的。":                                         "",
		"我在家工作。":                                           "",
		"我想搬到上海。":                                          "",
		"一家人在一起最要紧。":                                       "",
	} {
		var got []string
		for _, c := range Of(statement) {
			got = append(got, c.Attribute+" "+strings.Join(c.Value, " "))
		}
		wanted := strings.Split(want, ", ")
		slices.Sort(got)
		slices.Sort(wanted)
		if strings.Join(got, ", ") != strings.Join(wanted, ", ") {
			t.Errorf("%s: %q, want %q", statement, got, wanted)
		}
	}
}
