package forgetting

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Lasts is how many times as long memories of a type or a domain last without access, LeastLasts to MostLasts each,
// such as "task=0.5,general_chat=0.25". If both the type and the domain of a memory are named, the product counts.
type Lasts string

// The bounds of a factor.
const (
	LeastLasts = 0.01
	MostLasts  = 100
)

// LastsOf joins factors by name.
func LastsOf(factors map[string]float64) Lasts {
	parts := make([]string, 0, len(factors))
	for _, name := range slices.Sorted(maps.Keys(factors)) {
		parts = append(parts, name+"="+strconv.FormatFloat(factors[name], 'g', -1, 64))
	}
	return Lasts(strings.Join(parts, ","))
}

// Factors returns the factors by name. A part that has no number is 0.
func (l Lasts) Factors() map[string]float64 {
	factors := map[string]float64{}
	if l == "" {
		return factors
	}
	for part := range strings.SplitSeq(string(l), ",") {
		name, number, _ := strings.Cut(part, "=")
		factors[name], _ = strconv.ParseFloat(number, 64)
	}
	return factors
}

// Check returns why the factors are not allowed, or "".
func (l Lasts) Check() string {
	factors := l.Factors()
	for _, name := range slices.Sorted(maps.Keys(factors)) {
		if !isDomain(name) && !slices.Contains(memory.Types, memory.Type(name)) {
			return fmt.Sprintf("names %q, which is neither a type nor a domain of memories", name)
		}
		if factor := factors[name]; !(LeastLasts <= factor && factor <= MostLasts) { // also true of NaN
			return fmt.Sprintf("has %v for %s, and numbers from %v to %v are allowed", factor, name, LeastLasts, MostLasts)
		}
	}
	return ""
}

func isDomain(name string) bool { return slices.Contains(memory.Domains, memory.Domain(name)) }

// of is the factor of a memory.
func (l Lasts) of(a db.Age) float64 {
	factor := 1.0
	if l == "" {
		return factor
	}
	for part := range strings.SplitSeq(string(l), ",") {
		if name, number, _ := strings.Cut(part, "="); name == string(a.Type) || name == string(a.Domain) {
			named, _ := strconv.ParseFloat(number, 64)
			factor *= named
		}
	}
	return factor
}

// least is the smallest factor that a memory can have.
func (l Lasts) least() float64 {
	ofType, ofDomain := 1.0, 1.0
	for name, factor := range l.Factors() {
		if isDomain(name) {
			ofDomain = min(ofDomain, factor)
		} else {
			ofType = min(ofType, factor)
		}
	}
	return ofType * ofDomain
}
