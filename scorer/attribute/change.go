package attribute

import (
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// Change is what a statement changes of earlier statements of the user:
//
//	statement -> clauses with the user as subject -> what has ended, or has begun again, attitudes, favourites
//
// The zero Change changes no statement.
type Change struct {
	values     []Claim  // values of attributes that have ended; a claim without a value stands for any value
	ended      []object // what the user no longer does or has
	denied     []object // what the user does not do, without a word that says it has ended
	resumed    []object // what the user does again
	held       []Claim  // values of attributes that the user has again
	attitudes  []attitude
	favourites []Claim // Kind: the kind of thing that the value is a favourite of
	explicit   bool    // the statement names the user, or something that the user had
}

// ChangeOf reads a statement. It returns the zero Change for questions, conditions, quotations and other people.
func ChangeOf(statement string) (c Change) {
	if strings.ContainsAny(statement, "?？") {
		return c
	}
	if text.IsChinese(statement) {
		c.readChinese(statement)
	} else {
		c.readEnglish(statement)
	}
	return c
}

// IsZero reports whether the change changes no statement.
func (c Change) IsZero() bool { return !c.isPlain() && len(c.denied) == 0 }

// IsOwn reports whether the change by itself shows that the statement is about the user: the user is its subject, and
// it says that something has ended or has begun again, or states an attitude or a favourite. "I don't play tennis"
// alone may be a remark, and "I'm allergic to Mondays" a joke.
func (c Change) IsOwn() bool {
	isAllergy := func(a attitude) bool { return a.kind == allergy && a.positive }
	return c.explicit && c.isPlain() && !slices.ContainsFunc(c.attitudes, isAllergy)
}

func (c Change) isPlain() bool {
	return len(c.values)+len(c.ended)+len(c.resumed)+len(c.held)+len(c.attitudes)+len(c.favourites) > 0
}

// Ends reports whether the change outdates an earlier statement, and why. claims are those of the earlier statement.
func (c Change) Ends(earlier string, claims []Claim) (why string, ends bool) {
	switch {
	case c.IsZero() || strings.ContainsAny(earlier, "?？"):
		return "", false
	case slices.ContainsFunc(c.values, func(v Claim) bool { return slices.ContainsFunc(claims, v.includes) }),
		slices.ContainsFunc(c.ended, func(o object) bool { return o.isJobOf(claims) }),
		c.endsDoing(earlier):
		return "the later statement says that this has ended", true
	case c.resumes(earlier):
		return "the later statement says that this has begun again", true
	case c.reverses(earlier):
		return "the later statement takes the opposite attitude to the same thing", true
	case c.prefersAnother(earlier):
		return "a user has one favourite of a kind at a time", true
	}
	return "", false
}

// includes reports whether what has ended is the value of a claim. It may have fewer words than the value: "the bank"
// for "the city bank".
func (c Claim) includes(o Claim) bool {
	switch {
	case !c.isOf(o):
		return false
	case len(c.Value) == 0:
		return true
	case isChinese(c) && isChinese(o):
		return strings.Contains(o.Value[0], c.Value[0]) || strings.Contains(c.Value[0], o.Value[0])
	case isChinese(c) != isChinese(o):
		isSame, _ := translated(c, o)
		return isSame
	}
	return has(o.Value, c.Value)
}

func (c Change) endsDoing(earlier string) bool {
	objects := slices.Concat(c.ended, c.denied)
	return slices.ContainsFunc(objects, func(o object) bool { return o.isDoneIn(earlier) })
}

func (c Change) resumes(earlier string) bool {
	if len(c.resumed)+len(c.held) == 0 || !endingWord.MatchString(earlier) {
		return false
	}
	before := ChangeOf(earlier)
	ended := slices.Concat(before.ended, before.denied)
	return slices.ContainsFunc(c.resumed, func(o object) bool { return slices.ContainsFunc(ended, o.has) }) ||
		slices.ContainsFunc(c.held, func(v Claim) bool { return slices.ContainsFunc(before.values, v.includes) })
}

func (c Change) reverses(earlier string) bool {
	if !slices.ContainsFunc(c.attitudes, func(a attitude) bool { return a.isMentionedIn(earlier) }) {
		return false
	}
	before := ChangeOf(earlier).attitudes
	return slices.ContainsFunc(c.attitudes, func(a attitude) bool { return slices.ContainsFunc(before, a.reverses) })
}

func (c Change) prefersAnother(earlier string) bool {
	if len(c.favourites) == 0 || !favouriteWord.MatchString(earlier) {
		return false
	}
	_, another := Contradicted(ChangeOf(earlier).favourites, c.favourites)
	return another
}

// favouriteWord and endingWord match the words that statements of favourites and of endings have. Most statements have
// no such word, and need not be matched with the other expressions, which take longer.
var (
	favouriteWord = lazyregexp.New(`avou?rite|refer|[最更]`)
	endingWord    = lazyregexp.New(`n't |not? |used|quit|stop|gave|given|cease|cancel|left|sold|rid of|drop|delet|` +
		`clos|ended|return|had to|have to|gone|unsub|lost|retired|resign|fired|laid|let go|moved|unemploy|` +
		`[不没戒退停消销卖弃删离辞裁开失扔送]`)
)
