// Package lazyregexp has regular expressions that are compiled when they are first used. The rules for texts have about
// three hundred. Compiling all of them would take 40 ms of CPU at each start of the server and of each command.
package lazyregexp

import (
	"fmt"
	"regexp"
	"sync"
)

// Regexp is a regular expression with the methods of package regexp. Several goroutines may use it.
type Regexp struct {
	pattern string
	compile func() *regexp.Regexp
}

var (
	mu   sync.Mutex
	made []*Regexp
)

// New returns an expression, to be kept in a variable of a package. Its first use panics if it does not compile; Check
// finds that in a test.
func New(pattern string) *Regexp {
	r := &Regexp{pattern, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
	mu.Lock()
	defer mu.Unlock()
	made = append(made, r)
	return r
}

// Check compiles all expressions and returns how many there are, and the fault of the first one that does not compile.
func Check() (count int, err error) {
	mu.Lock()
	defer mu.Unlock()
	for _, r := range made {
		if _, err := regexp.Compile(r.pattern); err != nil {
			return len(made), fmt.Errorf("compile an expression: %w", err)
		}
	}
	return len(made), nil
}

func (r *Regexp) String() string             { return r.pattern }
func (r *Regexp) MatchString(s string) bool  { return r.compile().MatchString(s) }
func (r *Regexp) FindString(s string) string { return r.compile().FindString(s) }
func (r *Regexp) FindStringIndex(s string) []int {
	return r.compile().FindStringIndex(s)
}
func (r *Regexp) FindStringSubmatch(s string) []string {
	return r.compile().FindStringSubmatch(s)
}
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compile().FindStringSubmatchIndex(s)
}
func (r *Regexp) FindAllString(s string, n int) []string {
	return r.compile().FindAllString(s, n)
}
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compile().FindAllStringIndex(s, n)
}
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compile().FindAllStringSubmatch(s, n)
}
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compile().FindAllStringSubmatchIndex(s, n)
}
func (r *Regexp) ReplaceAllString(s, with string) string {
	return r.compile().ReplaceAllString(s, with)
}
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.compile().ReplaceAllStringFunc(s, with)
}
func (r *Regexp) Split(s string, n int) []string {
	return r.compile().Split(s, n)
}
