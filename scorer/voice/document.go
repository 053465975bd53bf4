package voice

import "hippocampus/internal/lazyregexp"

// A request to work on a text is an imperative with the text as its object. Some verbs, such as "translate", have no
// other object; with others, such as "improve", the object has to be named.
const (
	imperative = `(?:^|[.!?;:] |^(?:hi|hello|hey|ok|okay|now|thanks)\W+|\b(?:please|you|you please|help me|you to|me to) )`
	rewrites   = `(?:translate|proofread|paraphrase|rephrase|reword|rewrite|summari[sz]e|correct)\b`
	improves   = `(?:improve|edit|fix|polish|shorten|check|review|revise|simplify|make|turn|continue|grade|` +
		`proofread|translate|paraphrase|rephrase|rewrite|summari[sz]e|correct|finish|write a better)\b`
	aText = `\b(?:texts?|paragraphs?|passage|letters?|e-?mails?|essay|cv|r[ée]sum[ée]|bio|speech|story|poem|article|` +
		`post|sentences?|draft|abstract|description|report|thread|transcript|lyrics|profile|review|blurb|chapter|monologue)\b`
	sameSentence = `[^.!?。！？:：]*`

	imperativeChinese = `(?:^|[。！？，,；;：:] ?|请你?|帮我?|帮忙|麻烦你?|再|把` + sameSentence + `)`
	rewritesChinese   = `(?:翻译|译成|润色|改写|重写|校对|缩写|扩写|改病句|总结|概括)`
	improvesChinese   = `(?:改|缩短|精简|优化|检查|写得|翻译|译成|润色|校对|缩写|扩写|总结|概括|看看)`
	aTextChinese      = `(?:段话|段落|下面这|以下|这段|这篇|这封|文章|作文|论文|邮件|的信|求职信|简历|自我介绍|句子|悼词|` +
		`演讲|稿|诗|报告|摘要|帖子|歌词|故事|文字)`
	aTask = imperative + `(?:` + rewrites + sameSentence + `(?:\b(?:this|it|these|the following|below)\b|` + aText + `)|` +
		improves + sameSentence + aText + `)|` +
		aText + `.*` + imperative + improves + `|` +
		imperativeChinese + `(?:` + rewritesChinese + `|` + improvesChinese + `)` + sameSentence + aTextChinese + `|` +
		`(?:把|` + aTextChinese + `[^。！？]*(?:请|帮))` + sameSentence + improvesChinese + `|` + aMeaning

	// aMeaning matches a question about the meaning or the author of the words of a text.
	aMeaning = `\b(?:what|who|explain|interpret|analy[sz]e)\b` + sameSentence +
		`\b(?:lyrics|poem|verses?|song|stanzas?)\b|` +
		`(?:歌词|首歌|首诗|诗句)` + sameSentence + `(?:意思|谁写|理解|赏析)|` +
		`续写` + sameSentence + `(?:故事|小说|对话)`
)

var (
	// task ends its line with a request to work on the text that follows, or consists only of its verb and a language.
	task = ignoringCase(`(?:` + aTask + `)` + sameSentence + `[.!?。！？:：]?$|` +
		`(?:` + imperative + rewrites + `|` + imperativeChinese + rewritesChinese + `)` + sameSentence + `[:：]$|` +
		`^(?:please )?` + rewrites + `(?: (?:in)?to \w+)?[.:]?$|^(?:请|请?帮我|麻烦)?` + rewritesChinese + `[^，。！？]{0,5}$`)

	// inlineTask asks to work on the rest of its line.
	inlineTask = ignoringCase(`(?:` + aTask + `|` + imperative + rewrites + `|` +
		imperativeChinese + rewritesChinese + `|[换用].{0,8}语气)` + sameSentence + `[:：]\s*`)

	// backwards asks to work on a text that precedes.
	backwards = ignoringCase(imperative + improves + `.*\bthe (?:text |passage )?above\b|` +
		`(?:上面|以上|上述).*` + improvesChinese)

	title = ignoringCase(`^(?:curriculum vitae|cv|r[ée]sum[ée]|(?:个人)?简历)\s*[:：]?$`)
)

func ignoringCase(expression string) *lazyregexp.Regexp { return lazyregexp.New(`(?i)` + expression) }

// markDocuments marks texts that the user asks to translate, correct, summarise or rewrite, and curricula vitae: from
// the request to the end, or from the beginning to the request.
func markDocuments(lines []line) {
	for i, l := range lines {
		if !l.isOwn() {
			continue
		}
		text, isLast := l.trimmed(), !hasOwn(lines[i+1:])
		switch {
		case title.MatchString(text):
			mark(lines[i:], Document)
			return
		case isLast && backwards.MatchString(text):
			mark(lines[:i], Document)
		case !isLast && task.MatchString(text):
			mark(lines[i+1:], Document)
			return
		}
	}
}
