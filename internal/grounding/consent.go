package grounding

import (
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

var (
	consent = phrasesOf("consent")
	refusal = phrasesOf("refusal")
	uptake  = phrasesOf("uptake")
	// open matches questions that "yes" does not answer.
	open = lazyregexp.New(`(?i)\b(?:who|what|which|where|when|why|how|or)\b|什么|谁|哪|还是|怎么|多少|几`)
)

// offer matches questions whose answer is about what the assistant does.
var offer = lazyregexp.New(`(?i)\b(?:shall|should|can|could|may) I\b|\bwant me to\b|要不要我|需要我|要我`)

// takenSentences is the number of sentences, at the end of what the assistant says, to which a reply consents.
const takenSentences = 4

// taken returns the part of the assistant's words that a reply makes the user's own. answered are the clauses of
// questions in it, as a "yes" or "no" affirms or denies them.
func taken(said, reply string, as reading) (agreed string, answered []clause) {
	sentences := text.Sentences(said)
	sentences = sentences[max(0, len(sentences)-takenSentences):]
	end := strings.Join(sentences, "")
	asked := strings.ContainsAny(end, "?？")
	switch {
	case refuses(reply):
		if !asked {
			return "", nil
		}
		return end, answeredBy(sentences, true, as)
	case consents(reply):
		return end, answeredBy(sentences, false, as)
	case strings.ContainsAny(reply, "?？") || turnsDown(reply):
		return "", nil
	case asked || takesUp(reply):
		return end, nil
	}
	return "", nil
}

// answeredBy returns the clauses of the questions among sentences. denied says whether the answer denies them.
func answeredBy(sentences []string, denied bool, as reading) (clauses []clause) {
	for _, sentence := range sentences {
		if !strings.ContainsAny(sentence, "?？") || open.MatchString(sentence) || offer.MatchString(sentence) {
			continue
		}
		for _, c := range clausesOf(strings.TrimRight(sentence, "?？ 吗呢\n"), as) {
			if !c.denied {
				c.denied = denied
				clauses = append(clauses, c)
			}
		}
	}
	return clauses
}

// refuses reports whether a reply begins with a "no".
func refuses(reply string) bool {
	first, tokens, han := firstOf(reply)
	if len(tokens) > 0 && first < utf8.RuneSelf {
		switch tokens[0] {
		case "no", "nope", "nah", "never", "neither", "none", "wrong":
			return true
		}
		return len(tokens) > 1 && tokens[0] == "not" && (tokens[1] == "really" || tokens[1] == "yet" || tokens[1] == "any")
	}
	han = strings.TrimPrefix(han, " 还")
	if han != "" && han[0] != ' ' {
		return strings.HasPrefix(han, "没") || strings.HasPrefix(han, "不") && !strings.HasPrefix(han, "不错")
	}
	return strings.HasPrefix(han, " 不") || strings.HasPrefix(han, " 没有") && !strings.HasPrefix(han, " 不错")
}

// consents reports whether one of the first clauses of a reply says "yes".
func consents(reply string) bool {
	said := plain(reply)
	for range 2 {
		end, next := len(said), len(said)
		if at := clauseEnd.FindStringIndex(said); at != nil {
			end, next = at[0], at[1]
		}
		words, isQuestion := said[:end], strings.ContainsAny(said[end:next], "?？")
		said = said[next:]
		tokens, han := tokensOf(words), strings.TrimSpace(hanOf(words))
		tokens, restHan, _ := undenied.cut(tokens, han, " ")
		if isQuestion || negative.has(tokens, restHan) {
			continue
		}
		if consent.has(tokens, "") || saysYes(han) {
			return true
		}
	}
	return false
}

// saysYes reports whether a Chinese clause begins with a phrase of consent. A phrase of one character must be the whole
// clause.
func saysYes(han string) bool {
	yes := consent.han.FindString(han)
	return yes != "" && strings.HasPrefix(han, yes) && (utf8.RuneCountInString(yes) > 1 || yes == han)
}

// turnsDown reports whether a reply asks for something else.
func turnsDown(reply string) bool {
	said := plain(reply)
	tokens, han := tokensOf(said), hanOf(said)
	tokens, han, _ = undenied.cut(tokens, han, " ")
	return refusal.has(tokens, han)
}

// takesUp reports whether a reply refers to what was said before it.
func takesUp(reply string) bool {
	said := plain(reply)
	tokens, han := tokensOf(said), hanOf(said)
	return uptake.has(tokens, han) && !negative.has(tokens, han)
}

// firstOf returns the first character of a text, its tokens and its Han characters.
func firstOf(s string) (first rune, tokens []string, han string) {
	said := strings.TrimSpace(plain(s))
	first, _ = utf8.DecodeRuneInString(said)
	return first, tokensOf(said), hanOf(said)
}
