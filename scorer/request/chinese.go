package request

import "hippocampus/internal/lazyregexp"

// Parts of Chinese sentences.
const (
	openingChinese = `(?:请你?|麻烦你?|希望你|你要?|另外，?|还有，?|对了，?|记得|都|温度|时间|日期|价格|单位)?`
	lastingChinese = `(?:(?:从)?(?:今|此|现在)(?:以后|后|起|开始)|以后|今后|往后|从今(?:以后|往后|起)?|每次|每当|永远|一直|` +
		`总是|始终|一律|凡是|再也(?:不要|别)|(?:不要|别)再|都要)`
	actChinese = `(?:回答|回复|答复|说|讲|聊|解释|推荐|建议|叫我|称呼|提到?|提醒|用|写|加|标|注明|道歉|问我|告诉我|替我|给我|` +
		`帮我|发|举例|列|先|翻译|检查|纠正|限制|控制|保留|附上|不要|别)`
	occasionChinese = `(?:我(?:问|说|写|发|给|跟|要|让|请)|[给跟]我|聊|讲|说|写|做|回答我的问题|回答|推荐|解释|翻译|介绍)` +
		`[^，,。我]{0,14}(?:的时候|时)`
)

// chinese are the forms of a Chinese standing request.
var chinese = []*lazyregexp.Regexp{
	// It says how long or when: 以后叫我老王, 写代码的时候用四个空格, 改文件之前先问我.
	lazyregexp.New(`(?:^|[，,])` + openingChinese + lastingChinese + `.*` + actChinese),
	beginning(openingChinese + occasionChinese + `.*(?:请|要|都|顺便|记得|` + actChinese + `)`),
	beginning(openingChinese + `[改删动发写执买][^，,。]{0,8}之?前(?:都)?(?:要)?(?:先|必须)?(?:都)?` +
		`(?:问|告诉|跟|征求|征得)`),
	lazyregexp.New(`以后都(?:这样|如此)|不(?:确定|知道|清楚)(?:的时候|时|的话|的)?[，,]?(?:请|就|要|直接|你)*(?:直说|说|告诉我)`),

	// It is about all answers: 别每句话都加感叹号, 你的语气太正式了, 说话直接一点, 请用公制单位.
	beginning(openingChinese + `(?:不要|别)(?:(?:老|总|再|每次|每[句次段个].{1,4})(?:是|都)?` + actChinese +
		`|用|在回答里|在回复里|默认|假设|催|教训)`),
	beginning(`你?(?:不用|不必|无需)(?:每|总|老|都)`),
	beginning(`你的?(?:(?:回答|回复|答案|解释|话)(?:总是|老是|都)|说话|语气|风格)(?:太|有点)`),
	beginning(openingChinese + `(?:你)?(?:说话|讲话|回答|回复|措辞|语气)[^，,。]{0,4}(?:一?点|一?些)`),
	beginning(openingChinese + `(?:都|只|统一)?(?:回答|回复|说话)?(?:都)?(?:请)?用` +
		`(?:公制|英制|摄氏|华氏|二十四小时|24 ?小时|十二小时|繁体|简体|敬语|人民币|大白话|[一二三]人称)`),
	beginning(openingChinese + `(?:推荐|建议|介绍)[^，,。]{0,6}(?:只|不要|别)`),
	beginning(`给我的[^，,。]{1,6}(?:请|要|得)`),

	// It is about how the user is treated: 跟我说话随意一点, 称呼我李老师.
	beginning(openingChinese + `(?:跟|和|对|同)我(?:说话|讲话|聊天|交流|说|讲)`),
	beginning(openingChinese + `(?:称呼我|叫我|管我叫|喊我|别叫我|不要叫我)`),
}

// onceChinese matches requests about one text or one moment, and what the user says of the user.
var onceChinese = lazyregexp.New(`[这此]|明天|今天|今晚|刚才|现在就|上面|下面|再说|以后有|以后再|^我(?:[^问发让请写说给]|写诗)`)
