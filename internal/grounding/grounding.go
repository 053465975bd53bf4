// Package grounding finds what a text that a model has written adds to its sources:
//
//	text -> names, places, numbers, dates -> those that no source has
//	fact, talk -> also persons, conditions, traits, denials, the assistant's words -> why the user has not said it
//
// It reads English and Chinese. English names are words with a capital; places are also those of places.txt, in any
// case and in both languages. Chinese names are found where the words around them show that they are names, so that an
// invented Chinese name may pass. The words that decide are in word lists, the .txt files of this package.
package grounding

import (
	"maps"
	"slices"
	"strings"
	"time"

	"hippocampus/internal/lang/function"
	"hippocampus/internal/text"
)

// Source is a text that a statement may be drawn from.
type Source struct {
	Text string
	At   time.Time // when it was said; zero: unknown
}

// Texts returns sources without times.
func Texts(texts ...string) []Source {
	sources := make([]Source, len(texts))
	for i, t := range texts {
		sources[i].Text = t
	}
	return sources
}

// Invented returns the names, places, numbers and dates of a statement that its sources lack, each once and as written
// in the statement; nil if they have all. "five", "5" and "五" are one number, "Germany", "German" and "德国" one place.
// A number up to the number of sources, or 2, may be a count and is accepted, as are dates that a relative date of a
// source ("yesterday", "two years ago") may mean, given when the source was said.
func Invented(statement string, sources ...Source) []string {
	return Read(sources...).Invented(statement)
}

// Evidence holds the names, numbers and dates, and the words, of some sources.
type Evidence struct {
	texts   []string // in plain form, see plain
	lexemes map[string]bool
	joined  []string // lexemes of each source, each between spaces
	words   map[string]bool
	numbers map[float64]bool
	digits  []string // all digits of each source
	dates   []date
	times   []time.Time // of sources that are dated
	near    []span      // of relative dates
	count   int
	worded  []string // texts in other languages than English and Chinese
	german  bool     // a source is in German
}

// Invented is the function Invented for sources that have been read.
func (has Evidence) Invented(statement string) []string {
	var invented []string
	add := func(word string) {
		if !slices.Contains(invented, word) {
			invented = append(invented, word)
		}
	}
	german := has.isGerman(statement)
	for _, n := range placedNames(statement) {
		if !has.name(n.name) && !(german && has.isGermanNoun(n.before, n.name)) {
			add(n.name)
		}
	}
	for _, place := range chinesePlacesIn(statement) {
		if !has.place(place) {
			add(place)
		}
	}
	if german {
		if name := has.germanOpening(statement); name != "" && !has.name(name) {
			add(name)
		}
	}
	if len(has.worded) > 0 {
		statement = withEnglishDates(statement)
	}
	dates, rest := datesIn(statement)
	for _, d := range dates {
		if !has.date(d) && !has.mayFollow(d) {
			add(d.words)
		}
	}
	for _, n := range numbersIn(rest) {
		if !has.number(n) && !has.isInWords(n.value) {
			add(n.words)
		}
	}
	return invented
}

// Read reads sources, for several statements about them.
func Read(sources ...Source) Evidence {
	read := make([]Evidence, len(sources))
	for i, source := range sources {
		read[i] = readOne(source)
	}
	return merged(read)
}

// Uncounted returns the evidence of sources that are not a list, such as the lines of a talk. A number up to their
// number is then not accepted as a count.
func (has Evidence) Uncounted() Evidence {
	has.count = 0
	return has
}

// readOne reads one source.
func readOne(source Source) Evidence {
	has := Evidence{words: map[string]bool{}, numbers: map[float64]bool{}, lexemes: map[string]bool{}, count: 1}
	said := plain(source.Text)
	lexemes := text.Lexemes(source.Text)
	for _, l := range lexemes {
		has.lexemes[l] = true
	}
	has.joined = []string{" " + strings.Join(lexemes, " ") + " "}
	has.texts = []string{said}
	for _, w := range wordsOf(said) {
		has.words[w] = true
	}
	if has.german = function.IsGerman(source.Text); has.german || function.IsForeign(source.Text) {
		has.worded = []string{source.Text}
		source.Text = withEnglishDates(source.Text)
	}
	dates, rest := datesIn(source.Text)
	has.dates = slices.Concat(dates, weekdaysIn(source.Text))
	for _, n := range append(numbersIn(source.Text), numbersIn(rest)...) { // 周二六点 has 26, but 6 without the date
		has.numbers[n.value] = true
		if n.value > 12 && n.value < 24 {
			has.numbers[n.value-12] = true // an hour of the afternoon
		}
	}
	for _, n := range slices.Concat(clockNumbers(source.Text), halvesIn(said)) {
		has.numbers[n] = true
	}
	has.digits = []string{digitsOf(said)}
	if !source.At.IsZero() {
		has.times = []time.Time{source.At}
		has.near = spansOf(said, source.At)
	}
	return has
}

// merged returns the evidence of several sources.
func merged(read []Evidence) Evidence {
	has := Evidence{
		words: map[string]bool{}, numbers: map[float64]bool{}, lexemes: map[string]bool{}, count: len(read),
	}
	for _, one := range read {
		maps.Copy(has.lexemes, one.lexemes)
		has.joined = append(has.joined, one.joined...)
		maps.Copy(has.words, one.words)
		maps.Copy(has.numbers, one.numbers)
		has.texts = append(has.texts, one.texts...)
		has.digits = append(has.digits, one.digits...)
		has.dates = append(has.dates, one.dates...)
		has.times = append(has.times, one.times...)
		has.near = append(has.near, one.near...)
		has.worded = append(has.worded, one.worded...)
		has.german = has.german || one.german
	}
	return has
}
