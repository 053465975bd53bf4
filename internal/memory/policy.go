package memory

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"time"
)

// Policy says what an app remembers. The zero value keeps what the gate keeps.
type Policy struct {
	// Keep admits facts: if it has types or domains, facts of others are refused. A fact that one of its terms or patterns
	// matches is kept whatever its importance, type and domain are.
	Keep PolicyRules `json:"keep,omitzero"`
	// Never refuses facts, and the sentences of messages that its terms, its patterns or the model find. It decides
	// before Keep.
	Never PolicyRules `json:"never,omitzero"`
	// Categories are tags of facts, at most MaxCategories.
	Categories []Category `json:"categories,omitempty"`
}

// PolicyRules are one side of a policy.
type PolicyRules struct {
	Instructions string   `json:"instructions,omitempty"` // for the model alone, at most MaxPolicyText characters
	Types        []Type   `json:"types,omitempty"`        // see FactTypes
	Domains      []Domain `json:"domains,omitempty"`
	Terms        []string `json:"terms,omitempty"`    // words and phrases, at most MaxTerms
	Patterns     []string `json:"patterns,omitempty"` // regular expressions of RE2, at most MaxPatterns
}

// Category is a tag that the app gives to facts: as the model chooses, and to those that one of its terms matches.
type Category struct {
	Name        string   `json:"name"`                  // of one line, 1..MaxTagRunes characters
	Description string   `json:"description,omitempty"` // for the model, at most MaxDescription characters
	Terms       []string `json:"terms,omitempty"`       // at most MaxTerms
}

// PolicyVersion is one version of an app's policy. It never changes.
type PolicyVersion struct {
	AppID  string
	Number int // from 1; 0: the app has no policy
	Policy
	Note        string // why, at most MaxNote characters; may be empty
	PublishedAt time.Time
	PublishedBy string // id of a key; may be empty
}

// The limits of a policy.
const (
	MaxPolicyText     = 2000 // characters
	MaxTerms          = 100  // of one list
	MaxTermRunes      = 100
	MaxPatterns       = 20
	MaxPatternRunes   = 500
	MaxPatternSteps   = 300 // instructions of the compiled patterns of one list
	MaxCategories     = 30
	MaxDescription    = 300 // characters
	MaxPolicyVersions = 100 // of an app: older versions are deleted
)

// FactTypes are the types that a scorer may give to a fact. The other types are those of memories that the server
// makes.
var FactTypes = []Type{
	TypeFact, "preference", "pattern", "skill", "project", "observation", "task", "decision", "tool_use", "error",
	"insight",
}

// IsZero reports whether the policy says nothing.
func (p Policy) IsZero() bool { return p.Keep.IsZero() && p.Never.IsZero() && len(p.Categories) == 0 }

// IsZero reports whether the rules say nothing.
func (r PolicyRules) IsZero() bool {
	return r.Instructions == "" && len(r.Types)+len(r.Domains)+len(r.Terms)+len(r.Patterns) == 0
}

// Check returns what is wrong with the fields of a policy.
func (p Policy) Check() (wrong Fields) {
	for _, side := range []struct {
		path  string
		rules PolicyRules
	}{{"keep", p.Keep}, {"never", p.Never}} {
		side.rules.check(side.path+".", &wrong)
	}
	if n := len(p.Categories); n > MaxCategories {
		wrong.Add("categories", fmt.Sprintf("has %d categories: at most %d are allowed", n, MaxCategories))
	}
	known := map[string]bool{}
	for i, c := range p.Categories {
		path := fmt.Sprintf("categories[%d].", i)
		wrong.Add(path+"name", CheckName(c.Name, MaxTagRunes))
		if SkillOf([]string{c.Name}) != "" {
			wrong.Add(path+"name", "begins with "+skillTag+", as the tags of skills do: choose another name")
		}
		if known[c.Name] {
			wrong.Add(path+"name", "is the name of an earlier category: give each name once")
		}
		known[c.Name] = true
		if c.Description != "" {
			wrong.Add(path+"description", CheckContent(c.Description, MaxDescription))
		}
		checkTerms(path+"terms", c.Terms, &wrong)
	}
	return wrong
}

func (r PolicyRules) check(path string, wrong *Fields) {
	if r.Instructions != "" {
		wrong.Add(path+"instructions", CheckContent(r.Instructions, MaxPolicyText))
	}
	for i, t := range r.Types {
		if !slices.Contains(FactTypes, t) {
			wrong.Add(fmt.Sprintf("%stypes[%d]", path, i), fmt.Sprintf("is no type of a fact: give one of %v", FactTypes))
		}
	}
	for i, d := range r.Domains {
		if !slices.Contains(Domains, d) {
			wrong.Add(fmt.Sprintf("%sdomains[%d]", path, i), fmt.Sprintf("is no domain: give one of %v", Domains))
		}
	}
	checkTerms(path+"terms", r.Terms, wrong)
	if n := len(r.Patterns); n > MaxPatterns {
		wrong.Add(path+"patterns", fmt.Sprintf("has %d patterns: at most %d are allowed", n, MaxPatterns))
		return
	}
	steps := 0
	for i, pattern := range r.Patterns {
		at := fmt.Sprintf("%spatterns[%d]", path, i)
		if why := CheckContent(pattern, MaxPatternRunes); why != "" {
			wrong.Add(at, why)
			continue
		}
		n, why := stepsOf(pattern)
		wrong.Add(at, why)
		if steps += n; steps > MaxPatternSteps {
			wrong.Add(at, fmt.Sprintf("is too large: the patterns of one list may together have %d steps, which repetitions "+
				"such as {100} multiply", MaxPatternSteps))
			return
		}
	}
}

// stepsOf returns the number of instructions of a compiled pattern, or what is wrong with the pattern.
func stepsOf(pattern string) (steps int, why string) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, "is no regular expression of RE2: " + err.Error()
	}
	compiled, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, "is no regular expression of RE2: " + err.Error()
	}
	if regexp.MustCompile(pattern).MatchString("") {
		return len(compiled.Inst), "matches the empty text, and so every sentence: make a part of it required"
	}
	return len(compiled.Inst), ""
}

func checkTerms(path string, terms []string, wrong *Fields) {
	if n := len(terms); n > MaxTerms {
		wrong.Add(path, fmt.Sprintf("has %d terms: at most %d are allowed", n, MaxTerms))
		return
	}
	for i, term := range terms {
		wrong.Add(fmt.Sprintf("%s[%d]", path, i), CheckName(term, MaxTermRunes))
	}
}
