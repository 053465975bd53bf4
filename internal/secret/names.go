package secret

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
)

// form is the form of a value after a name.
type form struct {
	kind string
	has  func(value string) bool
	// words reports whether plain words may be the value, where nothing but a value is possible.
	words bool
	// adjoins reports whether a value may follow without "is" or a colon.
	adjoins func(value string) bool
	// inNames reports whether the name may be a part of a longer one that is assigned a value, such as DB_PASSWORD.
	inNames bool
	// assigns reports whether a value that an equals sign assigns is of this form, though it does not look generated.
	assigns func(value string) bool
	// alone reports whether nothing may follow a value in its clause.
	alone bool
	// least is the fewest characters of a key near the name, with any words between; 0: a key near the name does not
	// count.
	least int
}

func never(string) bool { return false }

var (
	passwords = &form{
		kind: Password, has: isPassword, words: true, inNames: true, assigns: isNoExample,
		adjoins: func(v string) bool {
			m := mixOf(v)
			return len(v) >= 6 && m.digits > 0 && m.letters > 0 && isPassword(v)
		},
	}
	germanPasswords = &form{kind: Password, has: isPassword, inNames: true, assigns: isNoExample, adjoins: never}

	passes  = &form{kind: Password, has: never, inNames: true, assigns: isNoExample, adjoins: never}
	phrases = &form{kind: Phrase, has: isPassword, words: true, assigns: isNoExample, adjoins: never}
	codes   = &form{
		kind: Code, has: isCode, assigns: never,
		adjoins: func(v string) bool { return isCode(v) && mixOf(v).letters == 0 },
	}
	anyCodes = &form{kind: Code, has: isLongCode, assigns: never, adjoins: never, alone: true}
	keys     = &form{
		kind: Key, has: isKey, inNames: true,
		assigns: isAssignedKey,
		adjoins: func(v string) bool { return isRandom(v, 12) && isNoExample(v) }, least: 20,
	}
	bareKeys = &form{
		kind: Key, has: func(v string) bool { return isRandom(v, 20) && !uuid.MatchString(v) }, inNames: true, assigns: never,
		adjoins: func(v string) bool { return isRandom(v, 24) && !uuid.MatchString(v) },
	}
	documents = &form{kind: Document, has: isDocument, adjoins: isDocument, assigns: never}
)

// name is a name of a secret, in lower case.
type name struct {
	text string
	form *form
	// needs has words, one of which must precede the name, with or without a space; nil: no word is needed.
	needs map[string]bool
	// tail matches text that follows the name and belongs to it; nil: the name has no tail.
	tail *lazyregexp.Regexp
}

var (
	ofCodes = wordSet(`verification security time confirmation login access auth authentication 2fa mfa sms door gate alarm
		entry unlock lock safe garage building backup recovery authenticator`)
	ofKeys  = wordSet("api secret access auth license licence encryption signing client admin webhook deploy private")
	drivers = wordSet("driver's drivers driver driving")
	whose   = lazyregexp.New(`^ (?:for|to|of) (?:my|our|the|his|her|their)(?: [a-z]+){1,3}`)

	// names are tried in this order at each place.
	names = indexed(slices.Concat(
		named(phrases, "mnemonic phrase,mnemonic,passphrase,pass phrase,pass-phrase,助记词"),
		needing(wordSet("seed recovery backup secret"), named(phrases, "phrase")),
		named(passwords, "passwords,password,pass word,passwd,passcodes,passcode,pass code,pwd,pw,密码,口令"),
		named(germanPasswords, "passwort,kennwort"),
		named(codes, "pin code,pin number,pin-code,pincode,pin,cvv2,cvv,cvc2,cvc,cvn2,cvn,otp code,otp,"+
			"验证码,校验码,动态码,安全码,确认码,授权码,开锁码,门禁码,动态密码"),
		needing(ofCodes, named(codes, "codes,code")),
		needing(wordSet("safe lock"), named(codes, "combination")),
		[]name{{text: "code", form: codes, tail: whose}, {text: "combination", form: codes, tail: whose}},
		needing(wordSet("your my"), named(anyCodes, "code")),
		needing(ofKeys, named(keys, "keys,key id,key secret,key")),
		named(keys, "access key,tokens,token,secrets,secret,credentials,credential,密钥,私钥,令牌,秘钥"),
		named(bareKeys, "keys,key"),
		named(documents, "passport number,passport no,passport,social security number,social security,"+
			"national insurance number,id card number,identity card number,bank account number,routing number,tax id,ssn,"+
			"护照号,驾照号,驾驶证号,社保号,身份证号,银行账号"),
		needing(drivers, named(documents, "license number,licence number,license,licence")),
		named(passes, "pass"),
	))
)

func named(f *form, texts string) (list []name) {
	for text := range strings.SplitSeq(texts, ",") {
		list = append(list, name{text: text, form: f})
	}
	return list
}

func needing(words map[string]bool, list []name) []name {
	for i := range list {
		list[i].needs = words
	}
	return list
}

// indexed returns names by their first byte.
func indexed(list []name) (by [256][]name) {
	for _, n := range list {
		by[n.text[0]] = append(by[n.text[0]], n)
	}
	return by
}

// eachName calls yield with the place of each name in a text in lower case, and the form of its value.
func eachName(lower string, yield func(start, end int, f *form)) {
	for i := 0; i < len(lower); i++ {
		list := names[lower[i]]
		for k := range list {
			n := &list[k]
			if i+1 >= len(lower) || n.text[1] != lower[i+1] {
				continue
			}
			if start, end := n.at(lower, i); end > 0 {
				yield(start, end, n.form)
				i = end - 1
				break
			}
		}
	}
}

// at returns the start and the end of the name, with the word that it needs, if its text is at a place; an end of 0:
// the name is not there.
func (n *name) at(lower string, place int) (start, end int) {
	if !strings.HasPrefix(lower[place:], n.text) {
		return 0, 0
	}
	start, end = place, place+len(n.text)
	if n.tail != nil {
		tail := n.tail.FindString(lower[end:cutBefore(lower, end+40)])
		if tail == "" {
			return 0, 0
		}
		return start, end + len(tail)
	}
	if n.needs == nil {
		return start, end
	}
	last := place
	if last > 0 && strings.IndexByte(" _-", lower[last-1]) >= 0 {
		last--
	}
	for start = last; start > 0 && last-start < 20 && (isWord(lower[start-1]) || lower[start-1] == '\''); {
		start--
	}
	if word := lower[start:last]; n.needs[word[strings.LastIndexByte(word, '_')+1:]] {
		return start, end
	}
	return 0, 0
}

// cutBefore returns the last place up to end at which a character begins or the text ends.
func cutBefore(text string, end int) int {
	if end >= len(text) {
		return len(text)
	}
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

// cutAfter returns the first place from start on at which a character begins.
func cutAfter(text string, start int) int {
	start = max(0, start)
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return start
}
