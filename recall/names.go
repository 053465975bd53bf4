package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// unknownNames is the share of the query's names and codes that occur in no memory of the owner.
func unknownNames(found postings, known []string, query string) float64 {
	names, unknown := unknownCodes(numbersIn(query), found)
	for _, name := range namesIn(query) {
		if strings.ContainsFunc(name, unicode.IsDigit) {
			continue // a code
		}
		lexemes := text.Lexemes(name)
		if len(lexemes) == 0 {
			continue // a stop word in a title
		}
		names++
		if !slices.ContainsFunc(lexemes, func(l string) bool {
			return slices.Contains(known, l) || len(found[l]) > 0
		}) {
			unknown++
		}
	}
	return unknown / max(1, names)
}

// nameLexemes returns the lexemes of the query's names.
func nameLexemes(query string) []string {
	var lexemes []string
	for _, name := range namesIn(query) {
		lexemes = append(lexemes, text.Lexemes(name)...)
	}
	return lexemes
}

// abbreviations are written in capitals and name kinds of things: "Which OS am I on?"
var abbreviations = wordSet(`ac api apis atm bbq bmi cd ceo cfo ci cli cms cpu crm css csv cto cv db diy dns dob dvd erp
	eta faq gp gpu gps hr html http https ide id ids ip iq it json kpi mfa mot mri mvp okr orm os pc pdf phd pin poc pr prs
	qa ram rsvp sdk sim sla slo sms sql ssd ssh ssl sso tls todo tv ui url urls usb ux vat vpn wfh wifi xml yaml`)

// namesIn returns the words of a query that begin with a capital within a sentence,
// except for abbreviations, months, days of the week and the like, and the names of Chinese persons. If
// every word of a query begins with a capital, no word counts as a name.
func namesIn(query string) []string {
	var names []string
	lower, begins := false, true
	for word := range strings.FieldsSeq(query) {
		last, _ := utf8.DecodeLastRuneInString(word)
		first := begins
		begins = strings.ContainsRune(".!?:。！？：", last)
		word = strings.TrimFunc(word, notLetterOrDigit)
		initial := firstRune(word)
		switch {
		case unicode.IsLower(initial):
			lower = true
		case first || !unicode.IsUpper(initial) || timeWords[strings.TrimSuffix(strings.ToLower(word), "'s")],
			abbreviations[strings.ToLower(word)]:
		default:
			names = append(names, word)
		}
	}
	if !lower {
		names = nil
	}
	if !strings.ContainsFunc(query, isHan) {
		return names
	}
	return append(names, chineseNames.FindAllString(ordinaryWords.Replace(query), -1)...)
}

// chineseNames matches a common surname with one or two characters of given names, or two
// such characters alone.
var chineseNames = lazyregexp.New(`[` + surnames + `][` + givenNames + `]{1,2}|[` + givenNames + `]{2}`)

const (
	surnames = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊" +
		"秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
	givenNames = "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平刚桂英华玉兰红建国文辉鹏飞宇浩博志远晓雪梅婷雯倩欣怡悦琳佳慧颖莉萍玲燕丹凤云龙海波斌峰俊凯旭晨阳轩涵梓萱诗思雨若昊然睿泽" +
		"嘉琪瑶瑞祥福德荣贵庆春冬秋林森永安康宁信义仁礼智诚忠良胜利民光东南振豪伦翔航毅坚立松柏青山河清淑珍珠宝琴香月莲菊竹美惠爱晶莹洁冰洪亮鑫炜卓越启彦哲翰希"
)

// ordinaryWords removes words that consist of the characters of names, or whose first character would make a name with
// the character before it. Most are from jieba's dictionary; see docs/decisions/0023-confidence.md.
var ordinaryWords = func() *strings.Replacer {
	var pairs []string
	for word := range strings.FieldsSeq(`
		万民 东航 东西 严明 义军 义利 义勇 亮丽 亮光 俊秀 俊美 信义 信阳 光亮 光光 光强 光明 光波 光泽 光洁 军山 军民 军礼 冬天 冬春 冰晶
		冰月 冰雪 刚刚 刚强 利民 卓然 南方 南航 启航 国光 国内 国军 国外 国家 国庆 国民 国立 国航 坚信 坚冰 坚强 坚毅 夏秋 娟秀 安全 安排
		山民 山雨 峰山 峰峰 平安 平平 平明 平民 平静 建军 建平 建立 建议 强光 强国 强强 德语 志军 忠义 忠勇 忠良 忠诚 思考 思路 怡悦 文件
		文山 文峰 文思 文章 文豪 文静 方军 方山 方志 方越 明丽 明亮 明天 明年 明早 明明 明晚 明月 明清 明艳 春义 春光 春天 春秋 春节 春雨
		晨光 晶亮 晶莹 智光 月亮 月光 月华 月琴 森林 森然 欣悦 欣然 武义 毅然 民国 民建 民航 永远 浩然 海军 海航 海边 涵义 清丽 清亮 清军
		清平 清明 清晨 清洁 清秀 清远 清静 爱人 爱好 爱民 珍爱 珍珠 珍贵 睿智 礼义 秀丽 秀美 秋冬 秋天 程志 程文 立志 红军 美元 美军 美艳
		胜利 航宇 航海 良民 艳丽 艳福 芳香 若然 英军 英文 英航 英语 英豪 诗云 诗文 诚然 豪华 豪强 超强 超然 超越 远航 远远 陆航 雨林 雨雪
		美丽 霞光 青光 青松 飞云 飞红 飞越 飞雪 高利 高洁 高贵 高远`) {
		pairs = append(pairs, word, " ")
	}
	return strings.NewReplacer(pairs...)
}()
