package secret

import (
	"strings"
	"unicode"

	"hippocampus/internal/lazyregexp"
)

// isRandom reports whether a value looks like a generated key: it has at least `least` characters, letters and digits,
// and its characters vary as much as in a random text.
func isRandom(value string, least int) bool {
	if len(value) < least || !characters.MatchString(value) || isPath(value) {
		return false
	}
	m := mixOf(value)
	return m.digits > 0 && m.letters > 0 && entropy(value) >= min(3.2, 2.2+float64(len(value))/32)
}

var characters = lazyregexp.New(`^[A-Za-z0-9+/=._~-]+$`)

// isPath reports whether a value is a path or a URL. The parts of a key in base64 have digits and capitals, those of a
// path mostly do not.
func isPath(value string) bool {
	if strings.Contains(value, "://") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") {
		return true
	}
	parts := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("/.-_", r) })
	plain := 0
	for _, part := range parts {
		if m := mixOf(part); m.digits == 0 && m.capitals <= 1 || m.letters == 0 && len(part) < 5 {
			plain++
		}
	}
	return len(parts) > 1 && plain*2 > len(parts)
}

var (
	uuid = lazyregexp.New(`^(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	// measure matches a number that counts or names something: 12-digit, 10+, 6-stellig, 3rd, 50%, 2FA.
	measure = lazyregexp.New(`^(?i)\d{1,4}(?:st|nd|rd|th|x|fa|[+%]|[-+]?(?:[a-z]{4,}))$`)
	// placeholder matches an example or a reference: the secret is to be put in its place, or is read from elsewhere.
	placeholder = lazyregexp.New(`^(?i)(?:` +
		`[<\[{(%@].*|\$.*|[*•.x#_-]+|` +
		`(?:your|my|the|this|some|insert|enter|add|replace|put|paste|change|new|old|example|sample|dummy|fake)?` +
		`[-_ ]?(?:(?:secret|api|access|private|auth|client|db|user|strong|super|test)[-_ ]?)*` +
		`(?:password|passwd|passwort|pass|pwd|secret|token|key|value|here|me|it)[-_ ]?(?:here|goes[-_]here)?|` +
		`your[-_].*|replace.*|change[-_]?(?:me|it|this).*|(?:process|import\.meta|deno)\.?env.*|os\..*|env[.\[(].*|` +
		`config[.\[].*|secrets?\..*|settings\..*|self\..*|this\..*|[\w.]+\(.*|` +
		`null|nil|none|true|false|undefined|empty|yes|no|n/?a|required|optional|string|str|int|text|redacted|hidden|` +
		`unknown|placeholder|todo|tbd|example)[;,)]*$`)
	repeated = lazyregexp.New(`^(?:[xX*•.0]{4,}|(?:hp_|sk-)?\.{3,})`)
)

// isNoExample reports whether a value is neither Mark, nor an example, nor a reference to a value.
func isNoExample(value string) bool {
	return !strings.Contains(value, Mark) && !placeholder.MatchString(value) && !repeated.MatchString(value)
}

// mix counts the characters of a value.
type mix struct {
	letters, capitals, digits, signs int
	rises                            int // capitals that follow small letters, as in BlueHouse
}

func mixOf(value string) (m mix) {
	previous := ' '
	for _, r := range value {
		switch {
		case unicode.IsDigit(r):
			m.digits++
		case unicode.IsUpper(r):
			m.letters++
			m.capitals++
			if unicode.IsLower(previous) {
				m.rises++
			}
		case unicode.IsLetter(r):
			m.letters++
		default:
			m.signs++
		}
		previous = r
	}
	return m
}

// isPassword reports whether a value after a name has the form of a password: unlike a word, it has digits, signs or
// capitals within.
func isPassword(value string) bool {
	m := mixOf(value)
	isOne := false
	switch {
	case len(value) < 4 || strings.Contains(value, "://"):
	case m.letters == 0:
		isOne = m.digits >= 4 && (!dateOrAmount.MatchString(value) || wheel.MatchString(value))
	case m.digits > 0 || strings.ContainsAny(value, "@#$%^&*_+=~|\\{}[]!?<>"):
		isOne = true
	default:
		isOne = m.rises > 0 || commonPasswords[strings.ToLower(value)]
	}
	return isOne && !knownNames[strings.ToLower(value)] && !measure.MatchString(value) && isNoExample(value)
}

// commonPasswords are passwords of letters alone that are not words.
var commonPasswords = wordSet("qwerty qwertz azerty qwertyuiop asdfgh asdfghjkl letmein iloveyou")

var dateOrAmount = lazyregexp.New(`^(?:\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|` +
	`\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,3}(?:[,.]\d{3})+|\d+[.,]\d+|\d{1,2}:\d{2}.*)$`)

// knownNames are products and methods with digits or capitals within that are mentioned together with passwords.
var knownNames = wordSet(`
		bitwarden lastpass keepass keepassxc 1password github gitlab icloud iphone ipad macos ios oauth oauth2 wifi
		paypal linkedin youtube whatsapp wechat postgresql mysql javascript typescript chatgpt openai onedrive
		dropbox protonpass nordpass dashlane ldap sha1 sha256 sha512 sha-256 md5 bcrypt argon2 argon2id scrypt
		pbkdf2 base64 utf-8 ascii v1 v2 v3 2fa mfa otp totp sso passkey passkeys faceid touchid`)

// isCode reports whether a value is a PIN, a one-time code or the code of a door.
func isCode(value string) bool {
	if len(value) < 3 || len(value) > 12 || measure.MatchString(value) {
		return false
	}
	return wheel.MatchString(value) || code.MatchString(value) && !dateOrAmount.MatchString(value)
}

var (
	code  = lazyregexp.New(`^[#*]?(?:[A-Z]-\d{4,8}|\d{3,10}|\d{3}[ -]\d{3}|[A-Z0-9]*\d[A-Z0-9]*-?[A-Z0-9]*)[#*]?$`)
	wheel = lazyregexp.New(`^\d{1,2}(?:-\d{1,2}){2,3}$`) // of a safe or a lock
)

// isLongCode reports whether a value is a long code, whatever kind of code the name means.
func isLongCode(value string) bool {
	return len(value) >= 6 && isCode(value) && mixOf(value).letters <= 1
}

// isKey reports whether a value after the name of a key may be a key, although it is short.
func isKey(value string) bool {
	m := mixOf(value)
	return len(value) >= 8 && m.letters > 0 && m.digits > 1 && characters.MatchString(value) && !isPath(value) &&
		!dateOrAmount.MatchString(value) && !measure.MatchString(value) && !knownNames[strings.ToLower(value)] &&
		isNoExample(value)
}

// isAssignedKey reports whether a value that is assigned to the name of a key may be a key.
func isAssignedKey(value string) bool {
	m := mixOf(value)
	return m.letters > 0 && (m.digits > 0 || m.letters >= 6) && characters.MatchString(value) && !isPath(value) &&
		isNoExample(value)
}

// isDocument reports whether a value is the number of a passport, a licence or an account.
func isDocument(value string) bool {
	return len(value) >= 6 && len(value) <= 24 && mixOf(value).digits >= 5 && document.MatchString(value) &&
		!dateOrAmount.MatchString(value)
}

var document = lazyregexp.New(`^[A-Z0-9][A-Z0-9 -]*[A-Z0-9]$`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}
