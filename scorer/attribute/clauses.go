package attribute

import (
	"strings"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// Clauses cuts a statement before each coordinated clause with the same first-person subject, if the clause or the one
// before it claims an attribute. The subject is restored:
//
//	"I live in Lisbon and work as a nurse." -> "I live in Lisbon.", "I work as a nurse."
//
// A statement that cannot be cut safely stays whole: a statement that quotes, sets conditions, refers back, or claims
// one attribute twice.
func Clauses(statement string) []string {
	g := grammarOf(statement)
	body := strings.TrimRight(statement, ".!。！ ")
	mark := statement[len(body):]
	body = body[len(g.hello.FindString(body)):]
	ends := g.ends.FindAllStringIndex(body, -1)
	if len(ends) == 0 || g.unsafe.MatchString(body) || len(Of(statement)) == 0 {
		return []string{statement}
	}
	clause := body[:ends[0][0]]
	stated := Of(clause) // by the part before the current one
	claims := stated     // of the statement so far
	subject := g.subjectOf(clause, stated)
	if subject == "" {
		return []string{statement}
	}
	var clauses []string
	for i, end := range ends {
		next := len(body)
		if i+1 < len(ends) {
			next = ends[i+1][0]
		}
		whole, claimed := g.restore(body[end[1]:next], subject, clause, stated)
		if whole == "" || len(claims)+len(claimed) == 0 {
			clause += body[end[0]:next]
			stated = nil
			continue
		}
		if Common(claims, claimed) {
			return []string{statement}
		}
		clauses = append(clauses, clause+mark)
		clause, stated = whole, claimed
		claims = append(claims, claimed...)
	}
	return append(clauses, clause+mark)
}

// ClaimsOwn reports whether a statement claims attributes of the user: its subject is the first person, and it neither
// quotes nor sets conditions.
func ClaimsOwn(statement string) bool {
	g := grammarOf(statement)
	claims := Of(statement)
	body := statement[len(g.hello.FindString(statement)):]
	return len(claims) > 0 && !g.unsafe.MatchString(body) && g.subjectOf(body, claims) != ""
}

func grammarOf(statement string) *grammar {
	if text.IsChinese(statement) {
		return &chinese
	}
	return &english
}

// grammar holds the expressions that Clauses uses for a language.
type grammar struct {
	hello  *lazyregexp.Regexp // begins a statement and is left out
	ends   *lazyregexp.Regexp // between clauses
	unsafe *lazyregexp.Regexp // in statements that stay whole
	back   *lazyregexp.Regexp // in clauses that refer to the clause before
	own    *lazyregexp.Regexp // begins a clause with a first-person subject, which is the first group
	others *lazyregexp.Regexp // begins a clause that has no subject and is not about the user
	copula *lazyregexp.Regexp // begins a clause, and may be left out in the next one
	space  string             // between subject and verb
}

var (
	english = grammar{
		hello: lazyregexp.New(`(?i)^(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| all)?, `),
		ends:  lazyregexp.New(`,? (?:and|but) |, `),
		unsafe: lazyregexp.New(`(?i)["“”:?()]|\b(?:if|unless|when|while|until|whether|say|says|said|tells?|told|asks?|` +
			`asked|who|whose|which|that|pretend|imagine)\b`),
		back: lazyregexp.New(`(?i)\b(?:it|there|here|this|that|those|these|them|they|he|she|him|her|his|their|its|` +
			`ones?|then|so|both)\b`),
		own:    lazyregexp.New(`(?i)^` + openings + `(i|we|my)\b`),
		others: lazyregexp.New(`^(?:\w+ly |now |still )*(?:is|has|(?:works|lives|eats|resides|goes|studies|starts)\b)`),
		space:  " ",
		copula: lazyregexp.New(`(?i)^(?:i'm|i’m|i am) `),
	}
	chinese = grammar{
		hello:  lazyregexp.New(`^(?:你好|您好|大家好)[，,]\s*`),
		ends:   lazyregexp.New(`[，,]\s*`),
		unsafe: lazyregexp.New(`["“”「」：:?？]|如果|要是|假如|的话|除非|只要|说|问|听|时候|当时|假装`),
		back:   lazyregexp.New(`那里|那边|那儿|这里|这边|这儿|[它他她]|那|这|所以|因此|于是`),
		own: lazyregexp.New(`^(?:而且|并且|但是|但|不过|同时)?(我们?)(?:现在|目前|今年|已经|刚|都|还)*` +
			`(?:的(?:名字|手机|电话|邮箱|职业|工作)|住|在|是|叫|做|当|对|有|喜欢|爱|讨厌|不|没|会|能|养|学|教|吃|每|平时|经常|搬|` +
			`\d|[一二三四五六七八九十]|满|单身|结婚|离婚|已婚|用)`),
		others: lazyregexp.New(`^叫`), // a pet, a child
		copula: lazyregexp.New(`^我是`),
	}
)

// subjectOf returns the first person that is the subject of a clause with these claims; "" if another subject is. The
// subject of "my name is" is the first person, but that of "my sister" is not.
func (g *grammar) subjectOf(clause string, claims []Claim) string {
	subject := match(g.own, clause)
	if strings.HasPrefix(strings.ToLower(subject), "my") {
		if len(claims) == 0 {
			return ""
		}
		return "I"
	}
	return subject
}

// restore returns a part of a statement as a clause by itself with its claims; "" if it is no clause. before is the
// clause before it, whose end states claims; it may have the subject of both.
func (g *grammar) restore(part, subject, before string, stated []Claim) (string, []Claim) {
	if g.back.MatchString(part) {
		return "", nil
	}
	claims := Of(part)
	if g.subjectOf(part, claims) != "" {
		return part, claims
	}
	if len(stated) == 0 || g.others.MatchString(part) {
		return "", nil
	}
	for _, start := range []string{subject + g.space, g.copula.FindString(before)} {
		if claims = Of(start + part); start != "" && len(claims) > 0 {
			return start + part, claims
		}
	}
	return "", nil
}
