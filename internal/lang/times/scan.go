package times

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The parts of a time that a pattern may have, by the class that names them.
const (
	count = iota
	day
	day2
	month
	year
	weekday
	season
	feast
	part
	cut
	unit
	oneNumber   // one of two numbers that are a day and a month
	otherNumber // the other one
	fields
)

var fieldOf = map[string]int{
	"n": count, "day": day, "dth": day, "day2": day2, "month": month, "mon": month, "verb": month, "mm": month,
	"year": year, "weekday": weekday, "wd": weekday, "season": season, "feast": feast, "weakfeast": feast, "part": part,
	"cut": cut, "unit": unit, "period": unit, "a": oneNumber, "b": otherNumber,
}

// captures are the values of classes in a match; 0: the pattern has no such class.
type captures [fields]int

// scan reads the times of one text.
type scan struct {
	*grammar
	text   string
	tokens []token
	clock  clock
	about  tense
	known  bool // about is known
	ended  int  // where the last time found ends; 0: no time was found yet
}

// finding is a time in a text.
type finding struct {
	begin, end int // tokens
	rule       *rule
	intervals  []interval
	dated      bool // its year is known
	open       int  // 1: "since" stands before it, 2: "after" does
}

// found returns the times that the text names, one by one.
func (s *scan) found() (list []finding) {
	for i := 0; i < len(s.tokens); {
		if t := &s.tokens[i]; t.number < 0 && !s.begins[t.word] {
			i++
			continue
		}
		f, known := s.at(i)
		if !known {
			i++
			continue
		}
		i = f.end
		if f.rule.name != "none" && len(f.intervals) > 0 {
			list = append(list, f)
			s.ended = f.end
		}
	}
	return list
}

// at returns the time whose first word is at a place, narrowed by the words around it.
func (s *scan) at(i int) (f finding, known bool) {
	cutBy, width := s.member("cut", i)
	end, meaning, c := s.match(i + width)
	if end == 0 && width > 0 {
		cutBy, width = 0, 0
		end, meaning, c = s.match(i)
	}
	if end == 0 || meaning.weak && width == 0 && !s.supported(i, meaning) {
		return f, false
	}
	f = finding{begin: i, end: end, rule: meaning}
	if s.precededBy("habit", i) {
		f.rule = &rule{name: "none"}
		return f, true
	}
	f.intervals, f.dated = s.clock.resolve(meaning, c), c[year] > 0 || !slices.Contains(meaning.args, "near")
	f.narrow(cutBy)
	if after, width := s.member("cutafter", f.end); width > 0 && meaning.name != "day" {
		f.narrow(after)
		f.end += width
	} else if hours, width := s.member("part", f.end); width > 0 && f.isDay() {
		for n := range f.intervals {
			f.intervals[n] = partOf(f.intervals[n].from, hours)
		}
		f.end += width
	}
	s.extend(&f)
	return f, true
}

// extend makes a time open at one side if a word around it says so.
func (s *scan) extend(f *finding) {
	if after, width := s.member("sinceafter", f.end); width > 0 {
		f.open = min(after, 1)
		f.end += width
	} else if _, width := s.member("untilafter", f.end); width > 0 {
		f.rule = &rule{name: "none"}
		f.end += width
	}
	if value := s.before("since", f.begin); value > 0 {
		f.open = value
	} else if s.before("until", f.begin) > 0 && (s.ended == 0 || s.ended != f.begin-1) { // no range
		f.rule = &rule{name: "none"}
	}
}

// match returns the longest pattern that begins at a place; end is 0 if no pattern begins there.
func (s *scan) match(i int) (end int, meaning *rule, c captures) {
	var walk func(n *node, i int, so captures)
	walk = func(n *node, i int, so captures) {
		if n.rule != nil && i > end {
			end, meaning = i, n.rule
			c = so
		}
		if i >= len(s.tokens) {
			return
		}
		if next := n.next[s.tokens[i].word]; next != nil {
			walk(next, i+1, so)
		}
		for _, h := range n.holes {
			value, width := s.value(h.class, i)
			if width == 0 {
				continue
			}
			with := so
			if field, ok := fieldOf[h.class]; ok {
				with[field] = value
			}
			walk(h.to, i+width, with)
		}
	}
	if i < len(s.tokens) {
		walk(s.patterns, i, captures{})
	}
	return end, meaning, c
}

// value returns the value of a class at a place and the number of tokens that it takes; 0 tokens if there is no value.
func (s *scan) value(class string, i int) (value, width int) {
	least, most := 0, 0
	switch class {
	case "n":
		least, most = 1, 999
	case "day", "day2", "dth":
		least, most = 1, 31
	case "mm":
		least, most = 1, 12
	case "a", "b":
		least, most = 1, 31
	case "year":
		least, most = 1900, 2199
	default:
		return s.member(class, i)
	}
	value, width, ordinal := s.number(i)
	if width == 0 || value < least || value > most || class == "dth" && !ordinal ||
		class == "n" && ordinal || class == "year" && ordinal {
		return 0, 0
	}
	return value, width
}

// member returns the value of the longest member of a class at a place.
func (s *scan) member(class string, i int) (value, width int) {
	n := s.classes[class]
	for j := i; n != nil && j < len(s.tokens); {
		n = n.next[s.tokens[j].word]
		j++
		if n != nil && n.rule != nil {
			value, width = n.rule.code(), j-i
		}
	}
	return value, width
}

// supported reports whether a weak pattern at a place counts.
func (s *scan) supported(i int, meaning *rule) bool {
	if meaning.name == "slash" && s.isDate(i) {
		return true
	}
	for i > 0 && s.tokens[i-1].word == "the" {
		i--
	}
	return s.precededBy("before", i)
}

// isDate reports whether two numbers with a slash stand for a date even without a preposition.
func (s *scan) isDate(i int) bool {
	a, b := s.tokens[i].number, s.tokens[i+2].number
	alone := s.tokens[i].end == s.tokens[i+1].start && s.tokens[i+1].end == s.tokens[i+2].start
	return alone && (a > 4 || b > 4 || strings.ContainsFunc(s.text, func(r rune) bool { return r >= utf8.RuneSelf })) &&
		(a != 24 || b != 7)
}

// precededBy reports whether a member of a class of single words stands before a place.
func (s *scan) precededBy(class string, i int) bool { return s.before(class, i) > 0 }

// before returns the value of the member of a class of single words before a place, 0 if another word is there.
func (s *scan) before(class string, i int) int {
	for i > 0 && s.tokens[i-1].word == "the" {
		i--
	}
	if i == 0 {
		return 0
	}
	value, _ := s.member(class, i-1)
	return value
}
