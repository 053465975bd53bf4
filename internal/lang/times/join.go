package times

import (
	"slices"
	"strings"
)

// tense reads whether the text is about the past or about plans. A text that is about both, such as "I booked a table
// for 12 May", is about either.
func (s *scan) tense() tense {
	if s.known {
		return s.about
	}
	s.known = true
	var isPast, isAhead, isWeak, isPresent bool
	for i := range s.tokens {
		if _, width := s.member("ahead", i); width > 0 {
			isAhead = true
		} else if _, width := s.member("weakpast", i); width > 0 {
			isWeak = isWeak || !s.follows(i, presentPerfect)
		} else if _, width := s.member("past", i); width > 0 {
			isPast = true
		} else if _, width := s.member("present", i); width > 0 {
			isPresent = true
		} else if word := s.tokens[i].word; len(word) > 4 && strings.HasSuffix(word, "ed") {
			isPast = isPast || !s.follows(i, presentTense)
		}
	}
	switch {
	case isAhead && !isPast && !isWeak:
		s.about = ahead
	case isAhead:
	case isPast:
		s.about = past
	case isWeak:
		s.about = perhapsPast
	case isPresent:
		s.about = inPresent
	}
	return s.about
}

// Words before a word that looks like the past tense but is not: "I've got", "she gets married".
var (
	presentPerfect = []string{"ve", "have", "has"}
	presentTense   = []string{"am", "m", "is", "are", "re", "be", "get", "gets", "getting"}
)

func (s *scan) follows(i int, words []string) bool {
	return i > 0 && slices.Contains(words, s.tokens[i-1].word)
}

// isDay reports whether a finding is a whole day.
func (f *finding) isDay() bool {
	return len(f.intervals) > 0 && daysBetween(f.intervals[0].from, f.intervals[0].until) == 1 &&
		f.rule.name != "part"
}

// narrow keeps a part of each period, unless the finding is a day.
func (f *finding) narrow(code int) {
	if code == 0 || f.isDay() {
		return
	}
	for n, i := range f.intervals {
		f.intervals[n] = i.cutTo(code)
	}
}

// joined joins the two times of a range, and a weekday with the date next to it. It extends a time after "since" or
// "after" until today.
func (s *scan) joined(list []finding) (united []finding) {
	for i := 0; i < len(list); i++ {
		f := list[i]
		if i+1 < len(list) {
			next := list[i+1]
			switch {
			case s.isRange(&f, &next):
				f = f.to(next)
				i++
			case s.isWeekdayOf(&f, &next):
				next.begin = f.begin
				f = next
				i++
			case next.begin == f.end && s.isWeekdayOf(&next, &f): // 5月14号周四
				f.end = next.end
				i++
			}
		}
		for n := range f.intervals {
			switch f.open {
			case 1:
				f.intervals[n].until = s.clock.today.AddDate(0, 0, 1)
			case 2:
				f.intervals[n] = interval{f.intervals[n].until, s.clock.today.AddDate(0, 0, 1)}
			}
		}
		united = append(united, f)
	}
	return united
}

// isRange reports whether two times are the ends of a range: "from March to May", "between ... and ...", 三月到五月.
func (s *scan) isRange(a, b *finding) bool {
	if b.begin != a.end+1 {
		return false
	}
	switch word := s.tokens[a.end].word; word {
	case "and", "和":
		return s.precededBy("from", a.begin)
	case "-", "–", "—":
		return true
	}
	_, width := s.member("to", a.end)
	return width > 0
}

// to returns the range from one time to another. A beginning without a known year is the latest one before the end.
func (f finding) to(end finding) finding {
	last := end.intervals[0]
	from := f.intervals[0].from
	if f.rule.name == "dayof" {
		from = date(last.from.Year(), last.from.Month(), from.Day(), from.Location())
		if from.After(last.from) {
			from = from.AddDate(0, -1, 0)
		}
	} else if !f.dated {
		from = from.AddDate(last.from.Year()-from.Year(), 0, 0)
		if from.After(last.from) {
			from = from.AddDate(-1, 0, 0)
		}
	}
	f.end, f.intervals = end.end, []interval{{from, last.until}}
	f.open = end.open
	return f
}

// isWeekdayOf reports whether a time is the weekday of the date next to it, as in "Saturday, 11 January".
func (s *scan) isWeekdayOf(a, b *finding) bool {
	if a.rule.name != "weekday" && a.rule.name != "weekof" || b.rule.name != "date" && b.rule.name != "dayof" {
		return false
	}
	return b.begin < a.begin || !slices.ContainsFunc(s.tokens[a.end:b.begin], func(t token) bool {
		return t.word != "," && t.word != "the" && t.word != "(" && t.word != "（"
	})
}
