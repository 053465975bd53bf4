package scorer

import (
	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
)

// Importances. The gate's default threshold is 0.7.
const (
	vital  = 0.9
	high   = 0.85
	strong = 0.8
	firm   = 0.75
	weak   = 0.4
)

// The types that the rules distinguish.
const (
	aFact       = memory.TypeFact
	aPreference = memory.Type("preference")
	aHabit      = memory.Type("pattern")
	aSkill      = memory.Type("skill")
	aProject    = memory.Type("project")
	aTask       = memory.Type("task")
	aDecision   = memory.Type("decision")
	aRemark     = memory.Type("observation")
)

// kinds are the kinds of statement of each domain; the first that matches counts. Expressions ignore case, and their
// apostrophes are plain.
var kinds = map[memory.Domain][]struct {
	says       *lazyregexp.Regexp
	kind       memory.Type
	importance float64
}{
	memory.Preferences: {
		{expression(`\bname\b|\bcalls? me\b|\byears old\b|\bi(?:'m| am) \w+\W*$|\bborn\b|birthday|\bpronouns\b|` +
			`allerg|intoleran|vegan|vegetarian|\b(?:can't|cannot) (?:eat|drink)|` +
			`叫|名字|岁|生日|出生|过敏|不耐受|不能[吃喝碰]|素食|吃素|母语`), aFact, vital},
		{expression(``), aPreference, strong},
	},
	memory.Profession: {
		{expression(`\b(?:speak|know|fluent|good at|code in|program in)\b|精通|擅长|熟悉|[我也]会|懂`), aSkill, firm},
		{expression(`\b(?:working on|building|developing|writing|rewriting)\b|正在[写做开重]`), aProject, firm},
		{expression(`\b(?:decided|chose|agreed|settled on|switched)\b|决定|选了|定了|换成`), aDecision, strong},
		{expression(``), aFact, high},
	},
	memory.Lifestyle: {
		{expression(`\b(?:every|each|usually|always|often|times a|twice a|once a)\b|` +
			`每[天周月年晚早个]|经常|常常|天天|平时|通常`), aHabit, firm},
		{expression(``), aFact, high},
	},
	memory.Social: {
		{expression(`\b(?:my|our) (?:\w+ )?(?:wife|husband|partner|spouse|son|daughter|child|children|kids?|baby|twins|` +
			`mother|mum|mom|father|dad|parents|brother|sister|grand\w+)\b|\bfianc|` +
			`\b(?:married|engaged|divorced|widow(?:ed|er)?|pregnant)\b|` +
			`我[的们]?(?:妻子|老婆|太太|丈夫|老公|先生|爱人|伴侣|未婚[妻夫]|儿子|女儿|孩子|宝宝|双胞胎|妈妈|母亲|爸爸|父亲|父母|` +
			`哥哥|弟弟|姐姐|妹妹|爷爷|奶奶|外公|外婆)|结婚|已婚|订婚|离婚|怀孕`), aFact, high},
		{expression(``), aFact, strong},
	},
	memory.Tasks: {
		{expression(`\b(?:was|were) born\b|出生`), aFact, vital},
		{expression(`\b(?:decided|chose|agreed|made up my mind|quit)\b|决定|说好|约好|想好`), aDecision, strong},
		{expression(`\b(?:was|were|became|bought|finished|hit|lost|met|paid|passed|reached|sold|took|went|won|` +
			`yesterday|ago|last (?:week|weekend|month|year))\b|[买卖去考生付见完]了|昨天|上周|上个?月|去年`), aFact, strong}, // it has happened
		{expression(``), aTask, high},
	},
}

// taste matches statements of what the user likes or dislikes, which are preferences in every domain.
var taste = expression(`\b(?:i|we) (?:really |still |just |do |don't |do not |never )?` +
	`(?:prefer|like|love|hate|dislike|enjoy|adore)\b|\bcan(?:'t|not) stand\b|\bfavou?rite\b|喜欢|讨厌|偏爱|最爱`)

// Importance is the importance that the rules give to a statement in a domain, 0.75 to 0.9.
func Importance(said string, domain memory.Domain) float64 {
	_, importance := kindOf(apostrophes.Replace(said), domain)
	return importance
}

// kindOf returns the type of a statement in a domain, and its importance.
func kindOf(plain string, domain memory.Domain) (memory.Type, float64) {
	for _, k := range kinds[domain] {
		if !k.says.MatchString(plain) {
			continue
		}
		if k.kind == aFact && taste.MatchString(plain) {
			return aPreference, k.importance
		}
		return k.kind, k.importance
	}
	return aFact, strong
}
