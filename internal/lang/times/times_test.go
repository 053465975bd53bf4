package times

import (
	"strings"
	"testing"
	"time"
)

// now is a Friday, in a zone in which the day began before that of UTC.
var now = time.Date(2031, 3, 21, 10, 0, 0, 0, time.FixedZone("", 8*3600))

// write writes spans as "from..until", days without hours, with the last day in place of the end of whole days.
func write(spans []Span) string {
	var list []string
	for _, s := range spans {
		const hour = "2006-01-02T15"
		if s.From.Equal(midnight(s.From)) && s.Until.Equal(midnight(s.Until)) {
			last := s.Until.AddDate(0, 0, -1)
			if last.Equal(s.From) {
				list = append(list, s.From.Format(time.DateOnly))
			} else {
				list = append(list, s.From.Format(time.DateOnly)+".."+last.Format(time.DateOnly))
			}
			continue
		}
		list = append(list, s.From.Format(hour)+".."+s.Until.Format(hour))
	}
	return strings.Join(list, " ")
}

func TestInQuestion_ReadsTimesOfBothLanguages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"What did I do yesterday?":                      "2031-03-20",
		"What did I say today?":                         "2031-03-21",
		"What will I do tomorrow?":                      "2031-03-22",
		"Who came the day before yesterday?":            "2031-03-19",
		"What is on the day after tomorrow?":            "2031-03-23",
		"What did I eat this morning?":                  "2031-03-21T05..2031-03-21T12",
		"Where was I last night?":                       "2031-03-20T18..2031-03-21T06",
		"Who called yesterday evening?":                 "2031-03-20T17..2031-03-21T00",
		"Who called on Tuesday afternoon?":              "2031-03-18T12..2031-03-18T18",
		"What did I do last weekend?":                   "2031-03-15..2031-03-16",
		"What shall we do this weekend?":                "2031-03-22..2031-03-23",
		"What happened last week?":                      "2031-03-10..2031-03-16",
		"What happened this week?":                      "2031-03-17..2031-03-23",
		"What's planned next week?":                     "2031-03-24..2031-03-30",
		"the week before last":                          "2031-03-03..2031-03-09",
		"Whom did I meet last month?":                   "2031-02-01..2031-02-28",
		"this month's talks":                            "2031-03-01..2031-03-31",
		"last year":                                     "2030-01-01..2030-12-31",
		"What did I cook on Monday?":                    "2031-03-17",
		"What did I cook on Friday?":                    "2031-03-14",
		"Where are we going on Monday?":                 "2031-03-24",
		"Who came last Sunday?":                         "2031-03-16",
		"What is next Tuesday?":                         "2031-03-25",
		"Am I free next Sunday?":                        "2031-03-23 2031-03-30",
		"What is on this coming Sunday?":                "2031-03-23",
		"How was my weekend?":                           "2031-03-15..2031-03-16",
		"What's planned for the weekend?":               "2031-03-22..2031-03-23",
		"What's my week looking like?":                  "2031-03-17..2031-03-23",
		"Where did we eat on Tuesday last week?":        "2031-03-11",
		"I swim every Monday":                           "",
		"What do I do on Mondays?":                      "",
		"Where did I hike two weeks ago?":               "2031-03-04..2031-03-10",
		"What did I buy three days ago?":                "2031-03-18",
		"Whom did I call a month ago?":                  "2031-02-06..2031-03-08",
		"two years ago":                                 "2029-01-01..2029-12-31",
		"Who came twenty-three days ago?":               "2031-02-26",
		"What is due in two weeks?":                     "2031-04-01..2031-04-07",
		"What did I buy in the past three days?":        "2031-03-18..2031-03-21",
		"What did I read in March?":                     "2031-03-01..2031-03-31",
		"What did I read in April?":                     "2030-04-01..2030-04-30",
		"Where will we be in April?":                    "2031-04-01..2031-04-30",
		"What is in April?":                             "2030-04-01..2030-04-30 2031-04-01..2031-04-30",
		"What did I read last June?":                    "2030-06-01..2030-06-30",
		"What did I read last March?":                   "2030-03-01..2030-03-31",
		"What did I do in May 2029?":                    "2029-05-01..2029-05-31",
		"May I swim?":                                   "",
		"When did they march?":                          "",
		"What did I do at the beginning of this month?": "2031-03-01..2031-03-10",
		"What did I see in mid-January?":                "2031-01-11..2031-01-20",
		"What did I see in late February?":              "2031-02-21..2031-02-28",
		"What did I see at the end of July?":            "2030-07-21..2030-07-31",
		"What takes place at the end of the month?":     "2031-03-21..2031-03-31",
		"Where did we drive at the start of the year?":  "2031-01-01..2031-03-01",
		"What did I do at the end of 2030?":             "2030-11-01..2030-12-31",
		"What did I do in early 2030?":                  "2030-01-01..2030-05-01",
		"What did I plant at the beginning of summer?":  "2030-06-01..2030-06-30",
		"Who came in the first week of September?":      "2030-09-01..2030-09-07",
		"Who came on 26 May?":                           "2030-05-26",
		"Who came on May 31st?":                         "2030-05-31",
		"Who came on the third of October?":             "2030-10-03",
		"Who came on Nov 4?":                            "2030-11-04",
		"Who came on 4 July 2029?":                      "2029-07-04",
		"Who came on July 4th, 2029?":                   "2029-07-04",
		"Who comes on 12 June?":                         "2030-06-12 2031-06-12",
		"Will Ana come on 12 June?":                     "2031-06-12",
		"Who came on Saturday, 11 January?":             "2031-01-11",
		"Who came on 30 February?":                      "",
		"Who came on 29 February?":                      "2028-02-29",
		"Who came on 2030-08-23?":                       "2030-08-23",
		"Who came on 20.04.2030?":                       "2030-04-20",
		"Who came on 8/23?":                             "2030-08-23",
		"Who came on 23/8?":                             "2030-08-23",
		"What did I do on 3/4?":                         "2031-03-04 2030-04-03",
		"Who came on 3/4/2029?":                         "2029-03-04 2029-04-03",
		"Where did I put the 1/2 inch screws?":          "",
		"What did I do in the spring of 2024?":          "2024-03-01..2024-05-31",
		"What did I do last summer?":                    "2030-06-01..2030-08-31",
		"What did I do in winter?":                      "2030-12-01..2031-02-28",
		"Where does the spring run?":                    "",
		"What did I do in 2029?":                        "2029-01-01..2029-12-31",
		"What have I done since June?":                  "2030-06-01..2031-03-21",
		"What did I do since January?":                  "2031-01-01..2031-03-21",
		"What happened after 10 March 2031?":            "2031-03-11..2031-03-21",
		"What did I know before June?":                  "",
		"What did we do between March and May 2023?":    "2023-03-01..2023-05-31",
		"Where was I from November to January?":         "2030-11-01..2031-01-31",
		"Where was I from 5 to 16 August?":              "2030-08-05..2030-08-16",
		"Who rang between 1 October and 20 October?":    "2030-10-01..2030-10-20",
		"What did I cook on New Year's Eve?":            "2030-12-31",
		"What did we do last Christmas?":                "2030-12-25",
		"What did we do at Christmas in 2029?":          "2030-12-25 2029-01-01..2029-12-31",
		"Where were we on Christmas Eve?":               "2030-12-24",
		"What did I tell the other day?":                "2031-03-11..2031-03-20",
		"What is the second thing I said?":              "",
		"I slept ten hours and ran 5 km at 3pm.":        "",
		"昨天我做了什么？":                                      "2031-03-20",
		"前天谁来了？":                                        "2031-03-19",
		"大前天谁来了？":                                       "2031-03-18",
		"明天我要做什么？":                                      "2031-03-22",
		"后天有什么事？":                                       "2031-03-23",
		"昨晚我看了什么？":                                      "2031-03-20T18..2031-03-21T06",
		"昨天下午谁来了？":                                      "2031-03-20T12..2031-03-20T18",
		"今天早上吃了什么？":                                     "2031-03-21T05..2031-03-21T12",
		"上周末我和谁见面了？":                                    "2031-03-15..2031-03-16",
		"上周讨论了什么？":                                      "2031-03-10..2031-03-16",
		"上个星期讨论了什么？":                                    "2031-03-10..2031-03-16",
		"上上周讨论了什么？":                                     "2031-03-03..2031-03-09",
		"下周有什么安排？":                                      "2031-03-24..2031-03-30",
		"上周三我去了哪里？":                                     "2031-03-12",
		"下周二我有什么安排？":                                    "2031-03-25",
		"星期二我跟谁吃饭了？":                                    "2031-03-18",
		"周日我去了哪？":                                       "2031-03-16",
		"每周一我做什么？":                                      "",
		"上个月我读了什么？":                                     "2031-02-01..2031-02-28",
		"上个月底我读了什么？":                                    "2031-02-21..2031-02-28",
		"今年年初我去了哪里？":                                    "2031-01-01..2031-03-01",
		"去年年底我做了什么？":                                    "2030-11-01..2030-12-31",
		"万圣节我听了什么？":                                     "2030-10-31",
		"这个月初我读了什么？":                                    "2031-03-01..2031-03-10",
		"今年春天我去了哪？":                                     "2031-03-01..2031-05-31",
		"去年冬天我去了哪？":                                     "2030-12-01..2031-02-28",
		"前年夏天我去了哪？":                                     "2029-06-01..2029-08-31",
		"三天前谁来了？":                                       "2031-03-18",
		"两周前我爬了什么山？":                                    "2031-03-04..2031-03-10",
		"2个月前我买了什么？":                                    "2031-01-06..2031-02-05",
		"半年前我在哪？":                                       "2030-09-06..2030-10-06",
		"最近三天我买了什么？":                                    "2031-03-18..2031-03-21",
		"十月上旬我去了哪？":                                     "2030-10-01..2030-10-10",
		"七月中旬我读了什么？":                                    "2030-07-11..2030-07-20",
		"一月下旬我买了什么？":                                    "2031-01-21..2031-01-31",
		"九月底谁来了？":                                       "2030-09-21..2030-09-30",
		"二月我看了什么？":                                      "2031-02-01..2031-02-28",
		"二〇二九年五月我在哪？":                                   "2029-05-01..2029-05-31",
		"2029年我在哪？":                                     "2029-01-01..2029-12-31",
		"去年四月我跑了多远？":                                    "2030-04-01..2030-04-30",
		"去年4月6号谁来了？":                                    "2030-04-06",
		"1月31日我做了什么？":                                   "2031-01-31",
		"十一月十一日我做了什么？":                                  "2030-11-11",
		"2030年11月4日讨论了什么？":                              "2030-11-04",
		"6月12日有什么安排？":                                   "2031-06-12",
		"2/10的例会讨论了什么？":                                 "2031-02-10 2030-10-02",
		"6月1日到7日我在哪？":                                   "2030-06-01..2030-06-07 2031-06-01..2031-06-07",
		"6月1日到6月7日讨论了什么？":                               "2030-06-01..2030-06-07",
		"三月到五月我在哪儿了？":                                   "2030-03-01..2030-05-31",
		"去年三月以来我读了什么？":                                  "2030-03-01..2031-03-21",
		"国庆节我跟谁吃了饭？":                                    "2030-10-01",
		"国庆假期我去了哪？":                                     "2030-10-01..2030-10-07",
		"元旦我跟谁吃的？":                                      "2031-01-01 2032-01-01",
		"去年儿童节我做了什么？":                                   "2030-06-01",
		"以前天天跑步吗？":                                      "",
		"我喜欢什么？":                                        "",
		"生日礼物是什么？":                                      "",
		"我住在哪里？":                                        "",
	} {
		if got := write(InQuestion(text, now)); got != want {
			t.Errorf("%q names\n\t%s, want\n\t%s", text, got, want)
		}
	}
}

func TestInStatement_PrefersTheNearestDate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"My flight is on 12 June.":          "2031-06-12",
		"The exam is on 1 March.":           "2031-03-01",
		"Ana visited on 12 June.":           "2030-06-12",
		"I've got an exam on 12 June.":      "2031-06-12",
		"Lena gets married on 12 June.":     "2031-06-12",
		"I booked a table on 12 June.":      "2031-06-12",
		"He said the exam is on 12 June.":   "2031-06-12",
		"He said it was on 12 September.":   "2030-09-12",
		"I was in Rome in June.":            "2030-06-01..2030-06-30",
		"The car is ready on the 18th.":     "2031-03-18",
		"The car is ready on the 8th.":      "2031-04-08",
		"We left the car on the 8th.":       "2031-03-08",
		"The plumber comes on Wednesday.":   "2031-03-26",
		"The plumber came on Wednesday.":    "2031-03-19",
		"Lunch with Ines on Wednesday.":     "2031-03-19",
		"周三去体检。":                            "2031-03-26",
		"周三去体检了。":                           "2031-03-19",
		"Away Monday the 7th":               "2031-04-07",
		"away from the 5th to the 7th":      "2031-04-05..2031-04-07",
		"from the 5th to the 7th of May":    "2031-05-05..2031-05-07",
		"from 28 May until 3 June":          "2031-05-28..2031-06-03",
		"我预约了6月12号看牙。":                      "2031-06-12",
		"6月12号周四面试。":                        "2031-06-12",
		"5号到7号不在家。":                         "2031-04-05..2031-04-07",
		"Ana will visit on 1 March.":        "2032-03-01",
		"I see the dentist next Tuesday.":   "2031-03-25",
		"I met Ines yesterday.":             "2031-03-20",
		"The party is on Saturday.":         "2031-03-22",
		"我的航班是6月12日。":                       "2031-06-12",
		"下周二我约了牙医。":                         "2031-03-25",
		"我们3月1号搬了家。":                        "2031-03-01",
		"I was born in 1990 and like tea.":  "1990-01-01..1990-12-31",
		"It opens at 9 and costs 20 euros.": "",
	} {
		if got := write(InStatement(text, now)); got != want {
			t.Errorf("%q names\n\t%s, want\n\t%s", text, got, want)
		}
	}
}

func TestInQuestion_GivesTheWordsOfTheText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"What did I do at the end of July 2029?": "the end of July 2029",
		"去年十月底我做了什么？":                            "去年十月底",
		"Where was I from 5 to 16 August?":       "5 to 16 August",
		"Who came on Saturday, 11 January?":      "Saturday, 11 January",
	} {
		if got := InQuestion(text, now); len(got) != 1 || got[0].Words != want {
			t.Errorf("%q has the spans %+v, want the words %q", text, got, want)
		}
	}
}

// A text without a word that only times have is not read at all, so each festival must have one.
func TestInQuestion_ReadsEachFestival(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(english + chinese) {
		class, members, _ := strings.Cut(strings.TrimSpace(line), " ")
		if class != "@feast" && class != "@weakfeast" {
			continue
		}
		members, _, _ = strings.Cut(members, " = ")
		for name := range strings.SplitSeq(members, " | ") {
			question := "What did I do on " + name + "?"
			if !strings.ContainsFunc(name, func(r rune) bool { return r < 0x80 }) {
				question = name + "我做了什么？"
			}
			if len(InQuestion(question, now)) == 0 {
				t.Errorf("%q names no time", question)
			}
		}
	}
}

func TestRelative_FindsTimesThatDependOnTheDay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"I went to a support group yesterday.": true, "We flew to Rome on 3 May.": true, "My mother visits next week.": true,
		"我昨天去了医院。": true, "我们下个月搬家。": true, "I sold the car two years ago.": true,
		"We flew to Rome on 3 May 2023.": false, "我在2023年5月3日搬家。": false, "I live in Lisbon.": false, "我对花生过敏。": false,
		"": false,
	} {
		if got := Relative(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
