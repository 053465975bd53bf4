package memory

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Factors are numbers by type or domain of memories, LeastFactor to MostFactor each, such as
// "task=0.5,general_chat=0.25". If both the type and the domain of a memory are named, the product counts.
type Factors string

// The bounds of a factor.
const (
	LeastFactor = 0.01
	MostFactor  = 100
)

// FactorsOf joins factors by name.
func FactorsOf(factors map[string]float64) Factors {
	parts := make([]string, 0, len(factors))
	for _, name := range slices.Sorted(maps.Keys(factors)) {
		parts = append(parts, name+"="+strconv.FormatFloat(factors[name], 'g', -1, 64))
	}
	return Factors(strings.Join(parts, ","))
}

// ByName returns the factors by name. A part that has no number is 0.
func (f Factors) ByName() map[string]float64 {
	factors := map[string]float64{}
	if f == "" {
		return factors
	}
	for part := range strings.SplitSeq(string(f), ",") {
		name, number, _ := strings.Cut(part, "=")
		factors[name], _ = strconv.ParseFloat(number, 64)
	}
	return factors
}

// Check returns why the factors are not allowed, or "".
func (f Factors) Check() string {
	factors := f.ByName()
	for _, name := range slices.Sorted(maps.Keys(factors)) {
		if !isDomain(name) && !slices.Contains(Types, Type(name)) {
			return fmt.Sprintf("names %q, which is neither a type nor a domain of memories", name)
		}
		if factor := factors[name]; !(LeastFactor <= factor && factor <= MostFactor) { // also true of NaN
			return fmt.Sprintf("has %v for %s, and numbers from %v to %v are allowed", factor, name, LeastFactor, MostFactor)
		}
	}
	return ""
}

func isDomain(name string) bool { return slices.Contains(Domains, Domain(name)) }

// Of is the factor of memories of a type and a domain; 1 if neither is named.
func (f Factors) Of(t Type, d Domain) float64 {
	factor := 1.0
	if f == "" {
		return factor
	}
	for part := range strings.SplitSeq(string(f), ",") {
		if name, number, _ := strings.Cut(part, "="); name == string(t) || name == string(d) {
			named, _ := strconv.ParseFloat(number, 64)
			factor *= named
		}
	}
	return factor
}

// Least is the smallest factor that a memory can have.
func (f Factors) Least() float64 {
	ofType, ofDomain := 1.0, 1.0
	for name, factor := range f.ByName() {
		if isDomain(name) {
			ofDomain = min(ofDomain, factor)
		} else {
			ofType = min(ofType, factor)
		}
	}
	return ofType * ofDomain
}
