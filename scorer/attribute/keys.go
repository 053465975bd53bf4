package attribute

import (
	"strings"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// keys has the names of attributes as keys of facts, in English and in Chinese, and a sentence for a value in each
// language.
var keys = []struct{ attribute, names, english, chinese string }{
	{
		attribute: home,
		names: `home|home city|city|city of residence|place of residence|residence|location|` +
			`家|城市|居住城市|居住地|居住地点|所在城市|所在地|现居地|现居城市|常住地|常住城市|住址|住处|住所|家庭住址`,
		english: "The user lives in *.", chinese: "我住在*。",
	},
	{
		attribute: employer, names: `employer|company|workplace|雇主|公司|单位|工作单位|就职公司|任职公司|所在公司`,
		english: "The user works at *.", chinese: "我在*上班。",
	},
	{
		attribute: job, names: `job|job title|occupation|profession|工作|职业|职位|岗位|职务`,
		english: "The user is a *.", chinese: "我的职业是*。",
	},
	{
		attribute: relationship,
		names:     `relationship|relationship status|marital status|感情状况|感情状态|婚姻状况|婚姻状态|婚姻`,
		english:   "The user is *.", chinese: "我是*。",
	},
	{
		attribute: diet, names: `diet|dietary preference|eating habits|饮食|饮食习惯|饮食偏好`,
		english: "The user is *.", chinese: "我吃*。",
	},
	{
		attribute: language, names: `preferred language|language preference|首选语言|偏好语言|语言偏好`,
		english: "My preferred language is *.", chinese: "以后请用*回答我。",
	},
}

// keyed matches the sentence of a fact with a key, as package facts words it, possibly with a type before the key.
var keyed = lazyregexp.New(
	`^(?:(?i:(?:the )?user's (?:new |current |personal |work |location |health )?)([a-z][a-z ]*?) is |` +
		`用户的(?:新的?|现在的?|目前的?|当前的?|个人)?(\p{Han}{1,6}?)是)([^,;:!?，。；：！？、的]+?)[.。]?$`)

// ofKey returns what the sentence of a fact claims of the attribute that its key names: "The user's city is Berlin." is
// a home, and so is 用户的家是上海. A value is read in its own language, whatever the key's.
func ofKey(statement string) []Claim {
	m := keyed.FindStringSubmatch(strings.TrimSpace(statement))
	if m == nil {
		return nil
	}
	for _, k := range keys {
		if !strings.Contains("|"+k.names+"|", "|"+m[1]+m[2]+"|") {
			continue
		}
		sentence, read := k.english, ofEnglish
		if text.IsChinese(m[3]) {
			sentence, read = k.chinese, ofChinese
		}
		for _, claim := range read(strings.Replace(sentence, "*", m[3], 1)) {
			if claim.Attribute == k.attribute {
				return []Claim{claim}
			}
		}
	}
	return nil
}
