package request

import (
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
)

// Parts of English sentences. Apostrophes are plain.
const (
	opening    = `(?:(?:please|and|so|also|but|ok(?:ay)?|hey|oh|yes|no|one more thing|by the way|btw|for \w+),? )*`
	imperative = opening + `(?:(?:you (?:should|must|can|may)|(?:could|can|would|will) you|` +
		`i(?:'d like| would like| want| need| ask| expect) you to|try to|please|just|only|don't|do not|not) )*`

	// act is a verb that an assistant can follow.
	act = `(?:add|address|answer|apologi[sz]e|ask|assume|avoid|be|begin|bring up|call|check|cite|confirm|correct|` +
		`describe|double-check|drop|end|explain|finish|format|give|help|include|keep|list|make|mention|name|offer|put|` +
		`quiz|quote|recommend|refer|remind|repeat|reply|respond|say|send|share|show|sign|skip|slow down|speak|spell|` +
		`start|stop|suggest|summari[sz]e|talk|tell|test|translate|treat|use|verify|warn|write)\b`
	asked   = `(?:` + imperative + act + `|` + opening + `please \w+\b)`
	lasting = `(?:always|as a rule|by default|from (?:now|here) on(?:wards)?|going forward|in general|` +
		`in (?:the )?future|(?:every|each|all the) (?:time|morning|evening|day|lesson|session)|` +
		`at the (?:end|start|beginning) of (?:every|each) \w+|on (?:weekends|weekdays)|unless i say otherwise)`
	occasion = `(?:when|whenever|(?:every|each|any|next) time|if) (?:i|you|we)\b[^,]*`
	answers  = `(?:answers?|replies|reply|responses?|messages?|explanations?|texts?|tone|style|language|sentences)`
)

// english are the forms of an English standing request.
var english = []*lazyregexp.Regexp{
	// It says how long or when: "Never apologise", "From now on, call me Sam", "When you write code, use tabs".
	beginning(imperative + `(?:always|never|don't ever|do not ever|only ever) (?:please )?` + act),
	beginning(opening + lasting + `,? ` + imperative + act),
	beginning(opening + occasion + `, ` + imperative + act),
	beginning(asked + `.*\W` + lasting + `\W*$`),
	beginning(asked + `.* (?:when|whenever|every time|each time|any time|before|unless|if) (?:i|we|you ` + act + `)\b`),
	beginning(imperative + `(?:ask|tell|warn) me .*before you\b`),
	beginning(opening + `let me .* before you\b`),
	beginning(imperative + `(?:don't|do not|never) ` + act + `.* (?:(?:again|any ?more)\W*$|` +
		`(?:every|each|all) ` + answers + `\b)`),
	beginning(opening + `(?:never|don't|do not) \w+ ` +
		`(?:anything|.* (?:without asking|without my|before i|unless i)\b)`),

	// It is about all answers: "Keep your answers short", "Your tone is too formal".
	beginning(imperative + `(?:keep|make|write|give|format|start|end) (?:me )?your ` + answers + `\b`),
	beginning(`your (?:answers|replies|responses|messages|explanations|tone|style|language) (?:is|are|get) ` +
		`(?:always |often |far |way |much |a bit )*(?:so|too) `),
	beginning(imperative + `(?:speak|talk|write|answer|reply|respond) (?:(?:to |with )?me )?` +
		`in (?:the language i|plain|simple|short|full)\b`),
	beginning(opening + `use (?:american|british|celsius|fahrenheit|imperial|metric|plain|simple|the (?:12|24)-hour)\b`),
	beginning(opening + `(?:no |no more |don't use |do not use )` +
		`(?:abbreviations|apologies|bullet \w+|disclaimers?|emojis?|exclamation \w+|filler|` +
		`jargon|jokes?|lectures?|links?|markdown|sarcasm|slang|small talk|swearing)` +
		`(?:,| please| with me| when | in |\W*$)`),

	// It is about how the user is treated: "Talk to me like a friend", "Call me captain", "Don't correct my spelling".
	beginning(imperative + `(?:(?:address|refer to|treat|speak|talk)(?: \w+ly)? (?:to |with )?me ` +
		`(?:as|in|like|and|\w+ly)\b|be \w+(?: and \w+)? (?:with|to) me\b|address me\b)`),
	beginning(imperative + `(?:\w+ )*` + act + `.* with me\W*$`),
	beginning(opening + `call me \w+\W*$`),
	beginning(opening + `(?:i'd like|i would like|i'd prefer|i want|i need) you to ` +
		`(?:be|use|speak|talk|answer|reply|respond|address|call|treat|stop)\b`),
	beginning(opening + `stop (?:with (?:the|your|all)|adding|apologi[sz]ing|asking|assuming|being|calling|ending|` +
		`giving|mentioning|recommending|repeating|saying|sending|starting|suggesting|telling|using)\b`),
	beginning(opening + `(?:don't|do not|never|no need to|you (?:don't|do not) (?:need|have) to|you needn't) ` +
		`(?:apologi[sz]e|ask|assume|bring up|call|correct|explain|greet|lecture|mention|praise|presume|push|remind|` +
		`repeat|sugarcoat|switch|use my)\b`),
}

// subjects are words with which most statements begin, and requests do not.
var subjects = []string{
	"i", "i'm", "i've", "my", "we", "we're", "our", "he", "she", "they", "his", "her", "their", "it", "the", "there",
}

// startsStatement reports whether a sentence begins as a statement. It saves most sentences the comparison with all
// forms of requests.
func startsStatement(sentence string) bool {
	first, rest, _ := strings.Cut(strings.ToLower(sentence), " ")
	if first == "i" && slices.ContainsFunc([]string{"would", "want", "need", "ask", "expect"}, func(verb string) bool {
		return strings.HasPrefix(rest, verb)
	}) {
		return false
	}
	return slices.Contains(subjects, first)
}

// onceEnglish matches requests about one text or one moment.
var onceEnglish = lazyregexp.New(`(?i)\b(?:this|these|those|the following|above|below|tomorrow|tonight|today|` +
	`the next|yet|right now|for now|never mind)\b|\bthat\W*$|\bcall me (?:back|later|soon|now|again|maybe|an?)\b`)
