package router

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// At least 18 of the 20 messages of small talk in each language skip recall, and no question or statement of the 200
// does. testdata/smalltalk.tsv was written before the vocabulary was read.
func TestRules_SkipSmallTalkOnly(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/smalltalk.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	const smallTalk = "smalltalk"
	skipped, messages := map[string]int{}, map[string]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.SplitN(lines.Text(), "\t", 3)
		label := fields[0]
		language := fields[1]
		text := fields[2]
		skips := IsSmallTalk(text)
		if label != smallTalk {
			messages[language]++
			if skips {
				t.Errorf("%q skips recall", text)
			}
			continue
		}
		if skips {
			skipped[language]++
		} else {
			t.Logf("%q does not skip recall", text)
		}
	}
	for _, language := range []string{"en", "zh"} {
		if skipped[language] < 18 || messages[language] != 200 {
			t.Errorf("%s: %d of 20 messages of small talk skip recall; %d others",
				language, skipped[language], messages[language])
		}
	}
}

// The end of a conversation and an acknowledgement are small talk. A remark that puts something off to another day is
// not.
func TestRules_SkipClosings(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"Thanks, that's all for today!":                                  true,
		"Ok, that will be all. Talk to you soon!":                        true,
		"I'm all set, thank you. Bye!":                                   true,
		"谢谢，今天就到这里！":                                                     true,
		"好的，先聊到这里，明天见":                                                   true,
		"That's all for today, the rest of the report is due on Friday.": false,
		"Noted. I'll keep that in mind!":                                 true,
		"好的，我记下了。":                                                       true,
		"I noted the date, remember that.":                               false,
		"Is that all for today?":                                         false,
		"I'm done with the report":                                       false,
		"今天就到这里，报告周五交":                                                   false,
		"今天到这里开会":                                                        false,
	} {
		if IsSmallTalk(s) != want {
			t.Errorf("%q is small talk: %v", s, !want)
		}
	}
}
