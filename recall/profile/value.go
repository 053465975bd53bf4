package profile

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hippocampus/internal/grounding"
	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// The confidence of values: how directly a statement states them.
const (
	byRules  = 0.95 // the rules have read the value of an attribute
	verbatim = 0.9  // the model quotes a plain statement that has the words of the value
	readOut  = 0.6  // the model has read the value out of other words, of a denial, wish or condition, or of others
	inferred = 0.5  // the statement is an insight: at most this
)

// maxValue bounds a text.
const maxValue = 300 // characters

// Finding is a value that a model has read, or one item of an array.
type Finding struct {
	Field string `json:"field"`
	Value string `json:"value"`
	ID    string `json:"id"`    // of the memory
	Quote string `json:"quote"` // of its content, the words that state the value
}

// fill returns the field that findings give in current statements; nil without a valid finding. The first statement
// decides about a field that is no array.
func (p Property) fill(name string, findings []Finding, statements []statement) *Field {
	var f *Field
	var items []string
	for _, m := range statements {
		for _, found := range findings {
			if found.Field != name || found.ID != m.ID || len(items) == maxItems {
				continue
			}
			value, confidence, why := p.read(found, m.Memory)
			if why != "" {
				continue
			}
			if p.Type != "array" {
				return &Field{Value: value, Sources: []memory.Memory{m.Memory}, Confidence: confidence, By: ByModel}
			}
			item := value.(string) //nolint:forcetypeassert // the items of arrays are strings
			if slices.ContainsFunc(items, func(other string) bool { return strings.EqualFold(other, item) }) {
				continue
			}
			if f == nil {
				f = &Field{Confidence: confidence, By: ByModel}
			}
			items = append(items, item)
			f.Value, f.Sources = items, append(f.Sources, m.Memory)
			f.Confidence = min(f.Confidence, confidence)
		}
	}
	return f
}

// read returns the value of a finding in a statement, or why it is refused.
func (p Property) read(f Finding, m memory.Memory) (value any, confidence float64, why string) {
	quote := folded(strings.Trim(f.Quote, "\"'“”‘’「」 .。…"))
	statement := folded(m.Content)
	if quote == "" || !strings.Contains(statement, quote) {
		return nil, 0, "quotes what the statement does not say"
	}
	clause, isOthers := around(statement, quote), false
	for _, sentence := range text.Sentences(m.Content) {
		s := folded(sentence)
		if !strings.Contains(s, quote) && !strings.Contains(quote, s) {
			continue
		}
		if order.MatchString(s) {
			return nil, 0, "quotes an order"
		}
		isOthers = isOthers || others.MatchString(s)
	}
	has := grounding.Read(grounding.Source{Text: f.Quote})
	switch p.Type {
	case "integer", "number":
		value, why = p.number(f.Value, has)
	case "boolean":
		if value = strings.EqualFold(f.Value, "true"); value == false && !strings.EqualFold(f.Value, "false") {
			why = "is no boolean"
		}
	default:
		value, why = p.text(strings.TrimSpace(f.Value), quote, clause, m.Content, has)
	}
	confidence = readOut
	if p.Type != "boolean" && strings.Contains(quote, folded(f.Value)) && !isOthers && grounding.IsPlain(clause) {
		confidence = verbatim
	}
	if m.Type.IsInferred() {
		confidence = min(confidence, inferred)
	}
	return value, confidence, why
}

// number reads a number that the quote has.
func (p Property) number(s string, has grounding.Evidence) (any, string) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	switch {
	case err != nil || math.IsInf(n, 0) || math.IsNaN(n):
		return nil, "is no number"
	case p.Type == "integer" && (n != math.Trunc(n) || math.Abs(n) > 1<<53):
		return nil, "is no integer"
	case !has.HasNumber(math.Abs(n)):
		return nil, "is no number of the quote"
	case p.Type == "integer":
		return int64(n), ""
	}
	return n, ""
}

// text reads a text whose words the statement has, or a value of the enum.
func (p Property) text(s, quote, clause, statement string, has grounding.Evidence) (any, string) {
	enum := p.Enum
	if p.Items != nil {
		enum = p.Items.Enum
	}
	if complaint := memory.CheckContent(s, maxValue); complaint != "" {
		return nil, complaint
	}
	isSaid := strings.Contains(quote, folded(s))
	if isSaid && ended.MatchString(clause) && !ended.MatchString(folded(s)) {
		return nil, "is no longer so"
	}
	switch {
	case enum != nil:
		i := slices.IndexFunc(enum, func(e string) bool { return strings.EqualFold(e, s) })
		if i < 0 {
			return nil, "is not in the enum"
		}
		return enum[i], ""
	case p.Format == "date":
		day, err := time.Parse(time.DateOnly, s)
		if err != nil || !has.HasDay(day) {
			return nil, "is no day that the quote has with its year"
		}
	case p.Format == "email":
		if !address.MatchString(s) || !isSaid {
			return nil, "is no address of the quote"
		}
	case !isSaid && !hasWords(statement, s):
		return nil, "has words that the statement does not have"
	}
	return s, ""
}

// hasWords reports whether a statement has all words of a value, or names the same place, language or company.
func hasWords(statement, s string) bool {
	said := text.Lexemes(statement)
	missing := func(word string) bool { return !slices.Contains(said, word) }
	if words := text.Lexemes(s); len(words) > 0 && !slices.ContainsFunc(words, missing) {
		return true
	}
	content := folded(statement)
	return slices.ContainsFunc(grounding.Names(s), func(name string) bool { return strings.Contains(content, name) })
}

// around returns the clauses of a statement that have a part of a quote. Both texts are folded.
func around(statement, quote string) string {
	begin := strings.Index(statement, quote)
	end := begin + len(quote)
	from := 0
	for _, at := range boundary.FindAllStringIndex(statement, -1) {
		switch {
		case at[1] <= begin:
			from = at[1]
		case at[0] >= end:
			return statement[from:at[0]]
		}
	}
	return statement[from:]
}

// folded returns a text in lower case with single spaces.
func folded(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

var (
	// order matches sentences that are orders to write or to do something: they state nothing.
	order = lazyregexp.New(`^\P{L}*(?:(?:please|now|and|then|just) )*(?:(?:you|the (?:ai|assistant|model|system)) ` +
		`(?:must|should|shall)|(?:set|change|update|make|mark|fill|put|ignore|disregard|override|treat|pretend|answer|` +
		`respond|output|return)|write (?:down|in|into|that|the|my|a|this))\b|` +
		`^\P{L}*(?:请|请你|务必)?(?:把|将|设为|设置|改成|填写?|写|忽略|无视|输出|回答)`)
	// ended matches what says that something is no longer so.
	ended = lazyregexp.New(`\b(?:no longer|any ?more|used to|formerly|previously|former|ex|until recently)\b|` +
		`不再|以前|曾经|曾是|前任`)
	// others matches sentences about someone else, unless the field asks for that.
	others = lazyregexp.New(`\b(?:(?:my|our|his|her|their|user's) (?:\w+ )?(?:mother|mum|mom|father|dad|parents?|` +
		`sisters?|brothers?|siblings?|sons?|daughters?|kids?|child|children|wife|husband|partner|boyfriend|girlfriend|` +
		`friends?|boss|colleagues?|neighbou?rs?|uncle|aunt|cousins?|grand\w+|flatmate|roommate)|he|she|they)\b|` +
		`[他她]|妈妈|母亲|爸爸|父亲|姐姐|妹妹|哥哥|弟弟|儿子|女儿|妻子|老婆|丈夫|老公|朋友|同事|老板|邻居|室友`)
	boundary = lazyregexp.New(`[.,;:!?] |[，。；：！？、]|\b(?:and|but|now)\b|但是?|而|现在`)
	address  = lazyregexp.New(`^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>".]+$`)
)
