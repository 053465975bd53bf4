package recall

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// cues are what a memory's own text shows beside its words, found once and
// compared with many queries.
type cues struct {
	speaker  string  // lower case; of contents such as "[2024-03-01] Nora: ..."; empty: none
	timed    bool    // it says when something is, was or will be
	question float64 // share of its text that asks, 0..1
}

// lead is how the line of a conversation begins: an optional note in brackets,
// then one to three words and a colon.
var lead = regexp.MustCompile(`^(?:\[[^\]\n]{1,40}\]\s*)?([\pL][\pL\pN_.'’-]*(?: [\pL][\pL\pN_.'’-]*){0,2})(?::\s|：)`)

func cuesOf(content string) cues {
	var c cues
	if strings.Contains(content, ":") || strings.Contains(content, "：") { // as every match has
		if m := lead.FindStringSubmatchIndex(content); m != nil {
			c.speaker = strings.ToLower(content[m[2]:m[3]])
			content = content[m[1]:]
		}
	}
	c.timed = timed(content)
	c.question = asking(content)
	return c
}

// timeWords say when. A plural "s" is cut off before they are looked up.
var timeWords = wordSet(`yesterday today tonight tomorrow last next ago weekend week month year since recently just
	monday tuesday wednesday thursday friday saturday sunday
	january february march april may june july august september october november december
	morning summer winter spring fall autumn`)

// timeInChinese is looked for within a text, as nothing stands between its words.
var timeInChinese = regexp.MustCompile(`[昨今明前后]天|[去今明前后]年|[上下这本]个?(?:周|月|星期|礼拜)|周末|(?:星期|礼拜|周)[一二三四五六日天]|(?:[0-9]|[一二三四五六七八九十])(?:年|月|号|点)`)

// afterThis are time words only after "this".
var afterThis = wordSet("morning summer winter spring fall autumn")

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

func timed(content string) bool {
	before := ""
	for word := range wordsOf(content) {
		stem := strings.TrimSuffix(word, "s")
		if timeWords[word] || timeWords[stem] {
			if !afterThis[stem] || before == "this" {
				return true
			}
		}
		if len(word) == 4 && (word[:2] == "19" || word[:2] == "20") && isDigits(word) {
			return true
		}
		before = word
	}
	return !ascii(content) && strings.ContainsFunc(content, isHan) && timeInChinese.MatchString(content)
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

func isDigits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// wordsOf yields the runs of letters and digits, in lower case.
func wordsOf(s string) func(yield func(string) bool) {
	return strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// notes stand in contents for what is no text.
var notes = regexp.MustCompile(`\[image:[^\]]*\]`)

// asking is the share of a text's characters that stand in sentences which end
// in a question mark, 0..1.
func asking(text string) float64 {
	if !strings.Contains(text, "?") && !strings.Contains(text, "？") {
		return 0
	}
	text = strings.TrimSpace(notes.ReplaceAllString(text, ""))
	all, asks, sentence := 0, 0, 0
	visible, ended, last := false, false, rune(0)
	end := func() {
		if visible {
			if all += sentence; last == '?' || last == '？' {
				asks += sentence
			}
		}
		sentence, visible, ended = 0, false, false
	}
	for _, r := range text {
		mark := strings.ContainsRune(".!?。！？", r)
		if ended && !mark {
			end()
		}
		sentence++
		if ended = ended || mark && visible; mark {
			last = r
		} else if visible = visible || !unicode.IsSpace(r); !unicode.IsSpace(r) {
			last = r
		}
	}
	end()
	if all == 0 {
		return 0
	}
	return float64(asks) / float64(all)
}

// wanted is what a query asks for beside its words.
type wanted struct {
	text  string // lower case
	names map[string]bool
	dates []dateNamed
	when  bool // it asks when
}

var asksWhen = regexp.MustCompile(`\bwhen\b|\b(?:what|which) (?:date|day|month|year|time)|how long|什么时候|哪天|哪年|哪一天|哪一年|哪个月|多久|何时|几时|几月|几点|几号|星期几|周几`)

func wantedOf(query string) wanted {
	w := wanted{text: strings.ToLower(query), names: map[string]bool{}, dates: datesOf(query)}
	if strings.Contains(w.text, "wh") || strings.Contains(w.text, "how") || !ascii(query) { // as every match has
		w.when = asksWhen.MatchString(w.text)
	}
	for word := range strings.FieldsFuncSeq(query, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	}) {
		word = strings.Trim(word, "'’")
		for _, possessive := range []string{"'s", "’s", "'", "’"} {
			if cut, ok := strings.CutSuffix(word, possessive); ok {
				word = cut
				break
			}
		}
		if first, _ := firstRune(word); unicode.IsUpper(first) {
			w.names[strings.ToLower(word)] = true
		}
	}
	return w
}

func firstRune(s string) (rune, bool) {
	for _, r := range s {
		return r, true
	}
	return 0, false
}

// speaks reports whether the query names a speaker: each word of the name
// stands in it with a capital, or, in scripts without capitals, the name does.
// Of a Chinese name of three or four characters, the given name will do: the
// last two.
func (w *wanted) speaks(speaker string) bool {
	if speaker == "" {
		return false
	}
	if first, _ := firstRune(speaker); !unicode.IsLower(first) {
		name := []rune(speaker)
		if n := len(name); (n == 3 || n == 4) && isHan(first) {
			speaker = string(name[n-2:])
		}
		return len(name) > 1 && strings.Contains(w.text, speaker)
	}
	for part := range strings.FieldsSeq(speaker) {
		if !w.names[part] {
			return false
		}
	}
	return true
}

// dateNamed is a month that a query names, perhaps with its day and its year.
type dateNamed struct {
	year, day int // 0: not named
	month     time.Month
}

var (
	months   = strings.Fields("january february march april may june july august september october november december")
	named    = regexp.MustCompile(`(?:(\d{1,2})(?:st|nd|rd|th)?(?: of)? )?\b(` + strings.Join(months, "|") + `)\b(?: (\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? (?:of )?((?:19|20)\d\d)\b)?`)
	monthMay = regexp.MustCompile(`\b(?:in|of|since|until|during|last|early|late|mid) may\b`) // and not the verb
)

func datesOf(query string) []dateNamed {
	var dates []dateNamed
	query = strings.ToLower(query)
	if !slices.ContainsFunc(months, func(month string) bool { return strings.Contains(query, month) }) {
		return nil // as most
	}
	for _, m := range named.FindAllStringSubmatch(query, -1) {
		if m[2] == "may" && m[1]+m[3]+m[4] == "" && !monthMay.MatchString(query) {
			continue
		}
		d := dateNamed{day: number(m[1] + m[3]), year: number(m[4])}
		for i, month := range months {
			if month == m[2] {
				d.month = time.Month(i + 1)
			}
		}
		dates = append(dates, d)
	}
	return dates
}

func number(digits string) int {
	n := 0
	for _, r := range digits {
		n = n*10 + int(r-'0')
	}
	return n
}

// dated is how near an instant is to what the query names: 1 on the day or the
// one after, or in the month; 1/2 in the ten days after it, and the day before.
func (w *wanted) dated(at time.Time) float64 {
	best := 0.0
	at = at.UTC()
	for _, d := range w.dates {
		if d.year != 0 && d.year != at.Year() {
			continue
		}
		switch {
		case d.day == 0 && at.Month() == d.month:
			best = 1
		case d.day == 0 && at.Month() == d.month%12+1 && at.Day() <= 10:
			best = max(best, 0.5)
		case d.day != 0:
			day := time.Date(at.Year(), d.month, d.day, 0, 0, 0, 0, time.UTC)
			if day.Month() != d.month {
				continue // there is no such day
			}
			switch days := int(at.Truncate(24*time.Hour).Sub(day).Hours() / 24); {
			case days >= 0 && days <= 1:
				best = 1
			case days >= -1 && days <= 10:
				best = max(best, 0.5)
			}
		}
	}
	return best
}
