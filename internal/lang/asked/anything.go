package asked

import (
	"strings"
	"unicode"

	"hippocampus/internal/lang/function"
	"hippocampus/internal/lazyregexp"
)

// open are the words of questions for whatever happened or is planned, besides the function words of the language. They
// say that something is asked for, but not what.
var open = wordSet(`plan plans planned planning schedule scheduled calendar diary agenda appointment appointments event
	events activity activities commitment commitments happen happens happened happening occurred go goes going went come
	comes coming up upcoming anything something nothing everything thing things stuff busy free available doing talk talked
	talking discuss discussed chat chatted speak spoke say said tell told mention mentioned remind reminder reminders show
	list give know aware need needs want todo task tasks due please hey hi ok okay got get getting let lets again else
	other already still yet ever any some all exactly really just only also too so far out off until before around during
	look looks looking like walk run take through lined store summary summarize summarise sum recap review rundown overview
	outline highlights brief new news interesting special important notable exciting keep kept remember experience
	experienced life time day spend spent see bored end ended start begin ve re ll d m s t don didn`)

// openInChinese are the same words of Chinese, with its function words.
var openInChinese = lazyregexp.New(`什么时候|什么|怎么样|怎样|怎么|哪些|哪里|哪儿|哪个|是不是|有没有|没有|安排|计划|日程|行程|活动|` +
	`打算|预约|约会|约人|约|待办|任务|大事|事情|事项|事儿|事|日历|空闲|空|闲|忙|发生|进行|准备|需要|注意|提醒|告诉|帮我|帮忙|` +
	`请问|请|一下|总结|汇总|概括|梳理|整理|回顾|列出|看看|经历|遇到|碰到|情况|重要|重点|特别|有意思|有趣|记得|所有|全部|` +
	`聊|谈|说|讲|提到|提|干嘛|干|做|弄|开会|出去|出门|去|过得|过|要|得|会|能|该|应该|可以|想|有|在|是|都|还|又|也|就|呢|吗|吧|` +
	`啊|呀|了|的|到|上面|上|里|我们|咱们|我|你|他们|她们|他|她|和|跟|与|那|这|关于|些|啥|哪|别的|其他|其它|另外|最近|现在|` +
	`对|个|开`)

// ForAnything reports whether a question, taken without the times that it names, asks for whatever happened or is
// planned: "What do I have on?", 有什么安排？ It names nothing that a memory could say.
func ForAnything(question string) bool {
	question = openInChinese.ReplaceAllString(strings.ToLower(question), " ")
	for word := range strings.FieldsFuncSeq(question, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if !open[word] && !function.Is(word) {
			return false
		}
	}
	return true
}

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}
