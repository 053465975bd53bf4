package voice

import (
	"strings"

	"hippocampus/internal/lazyregexp"
)

// turn is a line of a pasted chat: a time, if any, a name, a time, if any, and what is said.
var turn = lazyregexp.New(`^\s*` +
	`([\[(]?(?:\d{1,4}[-/.年]\d{1,2}[-/.月]\d{1,4}日?,?\s+)?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[APap][Mm])?[\])]?\s*(?:-\s*)?)?` +
	`(\pL[\pL\pN.'_-]*(?: [\pL\pN.'_-]+){0,2})(\s*[（(]\d{1,2}:\d{2}[）)])?\s*[:：]\s*(\S.*)`)

// named is a line with the name of the speaker of the next line, and its time.
var named = lazyregexp.New(
	`^\s*\pL[\pL\pN._-]*(?: [\pL\pN._-]+)?\s+(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\s+)?\d{1,2}:\d{2}(?::\d{2})?\s*$`)

// heading matches the words before a colon in notes that users write about themselves.
var heading = lazyregexp.New(`(?i)^(?:about me|age|allerg\w*|background|birthday|city|context|diet|edit|family|` +
	`goals?|health|hobb\w+|home|interests?|job|likes?|dislikes?|languages?|location|me|my .*|name|notes?|occupation|` +
	`p\.?s\.?|pets?|plans?|problem|profession|question|situation|status|summary|tasks?|todo|update|work|` +
	`背景|年龄|姓名|名字|生日|目标|工作|职业|家庭|爱好|健康|过敏|饮食|城市|地点|备注|注意|问题|情况|任务|计划|补充|关于我)$`)

// markChats marks pasted chats: at least two lines of speakers, if one of them speaks twice, if the lines have times,
// or if the names are no headings of notes. Lines that follow in the same paragraph continue a chat.
func markChats(lines []line) {
	if !hasChat(lines) {
		return
	}
	within := false
	for i, l := range lines {
		switch {
		case l.isBlank():
			within = false
		case l.kind != Own:
		case within, turnIn(l.content()) != nil, isNamed(l.content()):
			within = true
			lines[i].kind = Chat
		}
	}
}

// hasColon reports whether a line has a colon, as each line that names a speaker or a time has, and each report.
func hasColon(text string) bool { return strings.ContainsAny(text, ":：") }

// turnIn returns the groups of turn if a line names its speaker, else nil. The address of a web page, which has a colon
// too, does not.
func turnIn(text string) []string {
	if !hasColon(text) {
		return nil
	}
	found := turn.FindStringSubmatch(text)
	if len(found) > 4 && strings.HasPrefix(found[4], "//") {
		return nil
	}
	return found
}

// isNamed reports whether a line has only the name of the speaker of the next line, and its time.
func isNamed(text string) bool { return hasColon(text) && named.MatchString(text) }

// hasChat reports whether speakers talk in these lines.
func hasChat(lines []line) bool {
	turns, names := 0, 0
	headers := 0
	spoken := map[string]bool{}
	for _, l := range lines {
		if l.kind != Own {
			continue
		}
		if isNamed(l.content()) {
			headers++
		}
		if headers > 1 {
			return true
		}
		found := turnIn(l.content())
		if found == nil {
			continue
		}
		name := strings.ToLower(found[2])
		turns++
		if turns > 1 && (spoken[name] || found[1] != "" || found[3] != "") {
			return true
		}
		spoken[name] = true
		if !heading.MatchString(name) && (words(found[4]) >= sentenceWords || len(name) == 1) {
			names++
		}
	}
	return names > 1
}
