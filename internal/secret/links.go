package secret

import (
	"strings"

	"hippocampus/internal/lazyregexp"
)

// assignment returns where the value begins that the text after a name assigns to the name, and the sign of the
// assignment; 0: the text assigns no password. The name may go on, as in PASSWORD_PRIMARY=.
func assignment(after string) (at int, sign string) {
	i := 0
	for i < len(after) && i < 40 && (isWord(after[i]) || after[i] == '-') {
		i++
	}
	if i > 0 && aboutName.MatchString(after[:i]) {
		return 0, ""
	}
	begin := i
	i += leading(after[i:], "\"'`*])}", 3)
	i += parenthesis(after[i:])
	i += leading(after[i:], " \t", 3)
	for _, sign := range signs {
		if !strings.HasPrefix(after[i:], sign) {
			continue
		}
		i += len(sign)
		sign = after[begin:i]
		i += leading(after[i:], " \t", 3)
		i += leading(after[i:], "*\n", 2)
		return i + leading(after[i:], " \t", 3), sign
	}
	return 0, ""
}

var (
	signs = []string{"=>", ":=", "===", "==", "=", ":", "：", "＝"}
	// aboutName matches the end of a name whose value is no secret, such as SECRET_NAME.
	aboutName = lazyregexp.New(`(?i)(?:name|id|limit|length|count|size|url|uri|endpoint|file|path|ttl|expiry|` +
		`expires|type|version|policy|hint|field|label|prefix|header|algorithm|alg|dir|age)s?$`)
)

// leading returns how many bytes at the beginning of a text are among some, at most `most`.
func leading(text, among string, most int) int {
	n := 0
	for n < len(text) && n < most && strings.IndexByte(among, text[n]) >= 0 {
		n++
	}
	return n
}

// parenthesis returns the length of a short remark in parentheses at the beginning of a text, with the space before.
func parenthesis(text string) int {
	for _, pair := range []struct{ open, closing string }{{" (", ")"}, {"(", ")"}, {" （", "）"}, {"（", "）"}} {
		if !strings.HasPrefix(text, pair.open) {
			continue
		}
		if end := strings.Index(text[:cutBefore(text, 60)], pair.closing); end > 0 {
			return end + len(pair.closing)
		}
	}
	return 0
}

const mostWords = 9 // between a name and a value: "the password for the Wi-Fi of our flat is now"

var (
	prepositions = wordSet(`for of to on at in with from that which i you we he she they
		für vom von zum zur beim im der des`)  // or a relative clause
	copulas = wordSet("is was remains reads became be are were to from ist lautet")
	// steps are words between "is" or "has" and the value: "has been changed to", "is still".
	steps = wordSet(`is was has have had been got will be now still just simply actually currently again always changed set
		reset updated to`)
	noWords = wordSet("are were to from ist lautet") // after which a plain word is no value
)

// verbs returns the places after a name at which the value of a verb begins: "is VALUE", "of my card is VALUE", "to
// VALUE".
func verbs(after string) (links []link) {
	i := leading(after, "\"'`*", 2)
	if rest, ok := strings.CutPrefix(after[i:], "”"); ok {
		i = len(after) - len(rest)
	}
	for _, s := range []string{"'s ", "’s "} {
		if strings.HasPrefix(after, s) {
			return []link{{at: len(s)}}
		}
	}
	i += parenthesis(after[i:])
	verb := false
	for n := range mostWords {
		gap := leading(after[i:], " \t\n", 3)
		end := i + gap
		for end < len(after) && (isWord(after[end]) || strings.IndexByte("'.&-", after[end]) >= 0 || after[end] >= 0x80) {
			end++
		}
		word := strings.ToLower(after[i+gap : end])
		if gap == 0 || word == "" ||
			n == 0 && !prepositions[word] && !copulas[word] && !steps[word] || verb && !steps[word] {
			return links
		}
		i = end + leading(after[end:], ":", 1)
		if space := leading(after[i:], " \t", 3); n > 0 && !verb && i > end && space > 0 { // of my card: VALUE
			links = append(links, link{at: i + space})
		}
		if verb = verb || copulas[word] && !prepositions[word] || steps[word] && !prepositions[word]; verb || copulas[word] {
			if space := leading(after[i:], " \t\n", 3); space > 0 {
				links = append(links, link{at: i + space, words: !noWords[word]})
			}
		}
	}
	return links
}

var chinese = lazyregexp.New(`^(?:号码|号|码)?["'”」』\x60]?\s?(?:现在|目前|已经|已|一直|就|应该|好像|还|都)?` +
	`(?:是|为|叫|改成了?|改为了?|改到|换成了?|换为|设成了?|设为了?|设置成了?|设置为了?|用的是|用)(?:这个)?[：:]?\s?`)

// chineseVerb is verbs for a text in Chinese: 是, 改成了.
func chineseVerb(after string) []link {
	if !hasAny(after[:cutBefore(after, 48)], []string{"是", "为", "叫", "成", "到", "用"}) {
		return nil
	}
	begin := parenthesis(after)
	found := chinese.FindString(after[begin:cutBefore(after, begin+60)])
	if found == "" {
		return nil
	}
	return []link{{at: begin + len(found), words: true}}
}

// placeBefore returns a word of text that may be the value of the name after text, and where the word begins.
func placeBefore(text string) (place int, found string) {
	if hasAny(text[cutAfter(text, len(text)-40):], []string{"是", "为", "当"}) {
		if match := beforeChinese.FindStringSubmatchIndex(text); match != nil {
			return match[2], text[match[2]:match[3]]
		}
	}
	if !strings.HasSuffix(text, " ") || !hasAny(text, []string{" is ", " was ", " as "}) {
		return 0, ""
	}
	words := strings.Fields(text)
	for back := 1; back <= 4 && back < len(words); back++ { // of "VALUE is my old work"
		at := len(words) - back
		whose := at+1 < len(words) && owners[words[at+1]]
		if words[at] == "as" && back <= 3 || (words[at] == "is" || words[at] == "was") && whose {
			return strings.LastIndex(text, " "+words[at]+" ") - len(words[at-1]), words[at-1]
		}
	}
	return 0, ""
}

var (
	owners        = wordSet("my your the our his her their")
	beforeChinese = lazyregexp.New(`(?:^|[\s\p{Han}，。：；“「（])([[:graph:]]{3,60})[”」]?\s?(?:是|就是|作为|当作?|为)` +
		`(?:[我你您他她们]+的)?[\p{Han}A-Za-z ]{0,6}$`)
	year = lazyregexp.New(`^(?:19|20)\d\d$`)
)
