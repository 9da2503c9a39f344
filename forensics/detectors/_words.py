"""The words of a message that only asks an agent to go on, in the languages that people write to agents in.

`RESUME` asks to go on; `NUDGE` asks what happened or says yes; `FILLER` may stand around either. Words are compared
without case, accents and punctuation. The words of real "continue" messages come from public sessions and trackers.
"""

from typing import Final

RESUME: Final = """
continue|continue on|continuing|cont|contiue|contine|continu|go on|go|keep going|keep on|keep working|carry on
proceed
resume|retry|try again|try it again|again|try once more|go ahead|move on|move along|press on|finish|finish up|do it
pick up where you left off|pick it up|keep it up|dont stop|do not stop|continua|keep at it|complete|rerun|run again
restart|lets go|lets continue|onward|unpause|resume work|back to work|get on with it
weiter|fort|mach weiter|weitermachen|fortfahren|fortsetzen|fahre fort|fahr fort|bitte fortfahren|nochmal|noch einmal
versuch es nochmal|versuche es erneut|erneut|setz fort|weiter so|weiter gehts|mach mal weiter
continuez|continuer|poursuis|poursuivez|poursuivre|reprends|reprenez|reprendre|vas y|allez y|reessaie|reessayez
recommence|encore|on continue|la suite|termine
sigue|siga|seguir|sigue adelante|prosigue|continua|continue|continuar|continuemos|reanuda|reintenta
intentalo de nuevo
intenta de nuevo|otra vez|dale|adelante|vamos|termina|sigamos
continua|continue|continuar|prossiga|prosseguir|siga|segue|segue em frente|tente novamente|tenta de novo|de novo
retome|retomar|pode continuar|bora|vai|novamente
avanti|vai avanti|prosegui|procedi|riprendi|riprova|continua pure|vai pure|ancora|di nuovo|proseguire|continuare
ga door|ga verder|verder|doorgaan|ga maar door|probeer opnieuw|opnieuw|hervat|nog een keer
fortsatt|fortsett|gå vidare|vidare|försök igen|igen|kor vidare|køyr vidare|gå videre|videre|prøv igen|prøv igjen
jatka|jatkakaa|jatka vain|yrita uudelleen|uudestaan
kontynuuj|dalej|idz dalej|jedz dalej|sprobuj ponownie|ponownie|jeszcze raz|wznow|rob dalej
pokracuj|pokracujte|pokracovat|zkus to znovu|znovu|dal|skus znova|znova|este raz|dalej
folytasd|folytassa|tovabb|probald ujra|ujra|menj tovabb|folytatas
continua|continuati|mai departe|incearca din nou|din nou|reia
продолжай|продолжайте|продолжи|продолжить|продолжаем|продолжение|дальше|давай дальше|поехали|далее|ещё раз|еще раз
повтори|попробуй снова|попробуй ещё раз|снова|заново|возобнови|давай|доделай|заканчивай
продовжуй|продовжуйте|продовжити|далі|ще раз|спробуй знову|знову|продължи|продължавай|напред|опитай пак
опитай отново
nastavi|nastavite|dalje|pokusaj ponovo|ponovo|настави|наставите|даље|покушај поново
συνεχισε|συνεχιστε|συνεχεια|παμε|προχωρα|προχωρησε|δοκιμασε ξανα|ξανα|δοκιμασε παλι
devam|devam et|devam edin|devam edelim|surdur|tekrar dene|yeniden dene|tekrar|bastan|kaldigin yerden devam et
استمر|استمري|تابع|أكمل|اكمل|واصل|كمل|متابعة|حاول مرة أخرى|مرة أخرى|أعد المحاولة|استكمل|يلا
ادامه|ادامه بده|ادامه بدهید|ادامه دهید|دوباره|دوباره تلاش کن|دوباره امتحان کن
המשך|תמשיך|תמשיכי|להמשיך|נסה שוב|תנסה שוב|שוב|קדימה|המשיכי
जारी रखो|जारी रखें|जारी रखिए|आगे बढ़ो|आगे बढ़ें|फिर से कोशिश करो|दोबारा कोशिश करें|फिर से|दोबारा|चलो|jaari rakho
aage badho
চালিয়ে যাও|চালিয়ে যান|আবার চেষ্টা করো|আবার|এগিয়ে যাও|جاری رکھیں|جاری رکھو|دوبارہ کوشش کریں|تسلسل رکھیں
தொடரவும்|தொடர்|மீண்டும்|కొనసాగించు|మళ్ళీ ప్రయత్నించు
tiếp|tiếp tục|tiếp đi|làm tiếp|tiếp tục đi|thử lại|lại|chạy lại|tiếp theo
lanjut|lanjutkan|teruskan|terus|lanjutin|coba lagi|ulangi|lagi|sambung|cuba lagi|ulang
endelea|jaribu tena|tena|ituloy|ituloy mo|subukan muli|magpatuloy
""".strip()

RESUME_UNSPACED: Final = """
继续|请继续|接着|接着来|接着做|接着说|接着干|往下|继续吧|继续做|继续执行|重试|再试一次|再试试|再来|再来一次|重新来|重来|下去|继续下去|恢复|接上|走起
繼續|請繼續|接著|重試|再試一次|再試試|繼續吧|繼續做|恢復|重來
続けて|続ける|続き|続行|つづけて|つづき|再開|進めて|進んで|やり直して|もう一度|もう一回|リトライ|再試行|続けてください|お願いします続けて
계속|계속해|계속해줘|계속해주세요|계속하세요|계속하자|이어서|이어서해줘|이어가|진행|진행해|진행해줘|진행해주세요|다시|다시해|다시시도|다시해줘|재시도|재개
ต่อ|ทำต่อ|ต่อไป|ดำเนินการต่อ|ลองใหม่|ลองอีกครั้ง|อีกครั้ง|ไปต่อ|បន្ត|ဆက်လုပ်|ສືບຕໍ່
""".strip()

NUDGE: Final = """
ok|okay|okey|k|kk|yes|yep|yeah|yup|y|sure|fine|hello|hi|hey|ping|status|status update|update|any update|any updates
any news
are you there|you there|still there|are you alive|alive|are you done|done|did you finish|are you stuck|stuck
are you ok
what happened|what now|now what|whats up|why did you stop|why stop|why|what|huh|well|so|and|then|you stopped|stopped
you died|it failed|failed|it crashed|error|did it work|where are you|answer me|answer|respond|reply|say something
wake up
still working|are you still working|is it done|everything ok|hows it going|whats the status|whats going on|go|next
oops
ja|jawohl|und|hallo|fertig|was ist los|was ist passiert|bist du da|bist du noch da|warum|status bitte|na
oui|alors|et|allo|tu es la|pourquoi|que se passe t il|ca va|fini|quoi|bon|reponds
si|sí|listo|listos|y|hola|que paso|qué pasó|por que paraste|estas ahi|ya|vale|bueno|responde|terminaste
sim|oi|pronto|e ai|o que aconteceu|cade|terminou|esta ai|responda|parou|beleza
fatto|ci sei|allora|che succede|cosa e successo|va bene|e|rispondi
да|ок|ну|ну что|ау|ты тут|ты где|что случилось|готово|почему остановился|и|ответь|привет|так
tamam|evet|hadi|orada misin|ne oldu|bitti mi|نعم|تمام|ماذا حدث|هل انتهيت|اوكي|כן|אוקיי|מה קרה|हाँ|ठीक है|क्या हुआ
có|được|rồi sao|sao rồi|ya|oke|gimana|sudah|kenapa|tak|hotovo|joo|anda
""".strip()  # noqa: RUF001  (Cyrillic words)

NUDGE_UNSPACED: Final = """
好|好的|好了|嗯|是|是的|对|可以|行|回答我|说话|说话呀|说话啊|回复我|回答|人呢|在吗|还在吗|你在吗|怎么了|怎么停了|为什么停了|怎么样了|好了吗|完成了吗|然后呢|卡住了|断了
是的|對|說話|怎麼了|怎麼停了|好了嗎|還在嗎
はい|お願いします|どうした|どうなった|大丈夫|終わった|いますか|それで|止まった
네|응|예|됐어|어떻게됐어|왜멈췄어|뭐해|괜찮아|끝났어
ครับ|ค่ะ|ใช่|เกิดอะไรขึ้น|เสร็จยัง
""".strip()

FILLER: Final = """
mach|fahre|fahr|setz|setze|lass uns|uns|please|pls|plz|now|just|with|the|a|an|your|my|our|it|its|this|that|these
them|thing|things|work|working|task|tasks|job|from|where
when|you|i|we|us|me|left|off|stopped|were|was|are|is|doing|last|previous|prior|same|step|point|to|of|on|at|in|here
there|above
until|till|done|end|finished|complete|completed|process|response|answer|output|message|generation|generating|writing
thanks
thank|thx|man|bro|dude|buddy|mate|ok|okay|yes|and|then|so|if|next|steps|have|can|could|would|will|should|already
interrupted|interruption
cut|almost|nearly|connection|internet|network|disconnected|reconnected|lost|dropped|sorry|execution|executing|rest|remaining|request|right|well|hey|hi|hello|lets|conversation|session|one|more|time|for
up|what|as|planned
bitte|einfach|jetzt|mal|ja|du|aufgehort|hast|wo|da|mit|der|die|das|aufgabe|dem|den|arbeit|danke|ab|dort|nun|doch|und
sil te plait|sil vous plait|stp|svp|le|la|les|travail|tache|ou|tu|t es|arrete|merci|de|du|ce|que|oui|avec|et
maintenant|as
por favor|porfavor|porfa|favor|con|el|los|lo|trabajo|tarea|donde|te|quedaste|desde|gracias|ahora|y|si|tu
com|o|os|trabalho|tarefa|onde|parou|agora|obrigado|voce|sim|e|pf|pfv|da|do|em
per favore|il|lavoro|compito|dove|eri|rimasto|grazie|ora|da|con|pure
alsjeblieft|met|het|waar|je|gebleven|was|snälla|tack|var|du|där|kiitos|siita|mihin|jait
prosze|od|miejsca|prosim|kerlek|kerem|te rog
пожалуйста|плиз|работу|работай|с|того|места|где|ты|остановился|задачу|это|и|ну|да|же|теперь|спасибо|будь ласка|моля
молим
παρακαλω|σε|απο|εκει|που
lutfen|kaldigin|yerden|islem|goreve|sen|tamam|ve|artik
من فضلك|رجاء|لو سمحت|من|حيث|توقفت|العمل|المهمة|الآن|لطفا|از|جایی|که|بودی|را|کار|בבקשה|את|העבודה|מאיפה|שעצרת|עם
कृपया|काम|को|अब|से|जहाँ|आप|तुम|रुके|थे|প্লিজ|দয়া করে|براہ کرم
đi|nhé|nào|giúp|tôi|công việc|từ|chỗ|dừng|vui lòng|hãy|bạn|cho|xong
tolong|mohon|dong|ya|saja|dari|pekerjaan|tugas|kerja|yang|tadi|sila|terhenti|tafadhali
""".strip()  # noqa: RUF001  (Cyrillic words)

FILLER_UNSPACED: Final = """
请|吧|啊|呀|呢|了|的|你|我|们|刚才|之前|上次|任务|工作|从|中断|断开|停下|停止|地方|处|那里|这里|先|就|把|完成|做|说|写|执行|一下|上面|下|处理|输出|回答|操作|麻烦|谢谢|还|没|完|未完成|剩下
剩余
請|們|剛才|任務|從|中斷|地方|執行|處理|輸出|謝謝|還|沒
ください|下さい|お願いします|お願い|して|から|の|を|は|に|で|さっき|先ほど|作業|タスク|途中|どうぞ|ね|よ|そのまま|処理|前回|止まった|ところ|が|た
해|줘|주세요|하세요|부탁|부탁해|부탁합니다|작업|멈춘|곳|에서|부터|아까|그|을|를|지금|합시다|해요|요|좀|하던|거|대로
ครับ|ค่ะ|คะ|นะ|หน่อย|กรุณา|โปรด|งาน|จาก|ที่|เลย|ให้|จบ
""".strip()

LOOSE: Final = """
go|go ahead|go on|again|finish up|do it|lets go|move on|move along|press on|onward|keep it up|encore|fort|nochmal
noch einmal|erneut|weiter so|vas y|allez y|otra vez|dale|adelante|vamos|de novo|novamente|bora|vai|avanti|vai avanti
ancora|di nuovo|opnieuw|nog een keer|vidare|igen|videre|igjen|uudestaan|ponownie|jeszcze raz|znovu|ujra|din nou
поехали|ещё раз|еще раз|снова|заново|давай|ще раз|знову|пак|отново|ponovo|поново|παμε|ξανα|tekrar|yeniden|yalla|يلا
مرة أخرى|دوباره|שוב|קדימה|फिर से|दोबारा|चलो|lai|lagi|tena
""".strip()
"""Words of continuing that take no object: an object after one needs a word of `JOINS`, else a new clause begins."""

JOINS: Final = """
with|from|at|on|to where|until|till|mit|ab|von|bei|avec|depuis|con|desde|com|desde|da|dal|met|vanaf|med|fra|fran|od|z|s
с|со|от|з|із|από|με|ile|من|مع|از|با|עם|מ|से|từ|với|dengan|dari|kutoka
""".strip()  # noqa: RUF001  (Cyrillic words)
"""Words that tie what follows to a word of continuing."""

THEN: Final = """
and|then|also|plus|afterwards|by|und|dann|danach|auch|ausserdem|anschliessend|et|puis|ensuite|aussi|y|luego|despues
tambien|e|depois|entao|tambem|poi|anche|dopo|daarna|ook|och|sedan|og|deretter|derefter|sitten|i|potem|nastepnie|oraz
takze|pak|potom|es|aztan|majd|apoi|и|затем|потом|также|а потом|і|та|потім|також|після|после|след това|zatim|онда|και
μετα|επειτα|ve|sonra|ayrica|و|ثم|وبعد|بعدها|سپس|بعد|ואז|אחר כך|और|फिर|và|rồi|sau đó|dan|lalu|kemudian|kisha|halafu
""".strip()  # noqa: RUF001  (Cyrillic words)
"""Words that begin another clause. Words that mean something else in other languages stand in `THEN_AFTER`."""

THEN_AFTER: Final = {
    "pokracuj|pokracujte|znovu|znova": "a",
    "ga door|ga verder|ga maar door|doorgaan|verder|hervat|probeer opnieuw|opnieuw": "en",
    "jatka|jatkakaa": "ja",
    "continuati": "si",
}
"""Words of continuing, and the word for "and" of their language."""

THEN_UNSPACED: Final = """
然后|然後|并且|並且|并|並|接下来|接下來|之后|之後|另外|同时|そして|それから|その後|그리고|하고|한 다음|แล้ว|และ|จากนั้น
""".strip()

CONTRAST: Final = """
but|instead|rather|without|except|however|unless|not|dont|stop|skip|change|use|using|switch|only|aber|statt|ohne
nicht
mais|sans|plutot|pas|pero|sin|mas|sem|ma|senza|invece|но|без|вместо|не|ama|fakat
""".strip()
CONTRAST_UNSPACED: Final = "但|不要|别|改|换|而是|不過|でも|しかし|代わり|하지만|말고|대신|แต่"

REFUSAL: Final = """
stop|no|wait|cancel|quit|exit|abort|undo|revert|nevermind|never|nope|clear|reset|compact|new|help|commit|push|build|test
deploy|merge|lint|compile|release|publish|format|rebase|review|refactor|nein|halt|stopp|non|para|nao|pare|basta|ferma
нет|стоп|hayir|dur|لا|לא|khong|tidak|停|停止|取消|不|不要|算了|やめて|中止|中断|いいえ|아니|중지|그만|หยุด
""".strip()
"""Single words that ask for something else than going on."""

THANKS: Final = """
thanks|thank you|thank|thx|ty|thankyou|cheers|danke|dankeschon|merci|gracias|obrigado|obrigada|valeu|grazie|bedankt
dank je|tack|takk|kiitos|dziekuje|dzieki|dekuji|diky|dakujem|koszonom|multumesc|mersi|спасибо|дякую|благодаря|хвала
hvala|ευχαριστω|tesekkurler|tesekkur ederim|sagol|شكرا|ممنون|مرسی|תודה|धन्यवाद|शुक्रिया|ধন্যবাদ|شکریہ|நன்றி|cảm ơn
terima kasih|makasih|asante|salamat
""".strip()
DONE: Final = """
done|finished|completed|complete|resolved|solved|fixed|fertig|erledigt|fini|finie|listo|listos|hecho|terminado|acabado
feito|concluido|pronto|fatto|finito|completato|klaar|gedaan|klart|ferdig|valmis|gotowe|zrobione|hotovo|kesz|gata|готово
сделано|закончено|gotovo|ετοιμο|bitti|تم|انتهى|تمام شد|סיימתי|נגמר|हो गया|xong|sudah|selesai
""".strip()
OVER_UNSPACED: Final = """
谢谢|謝謝|多谢|多謝|感谢|感謝|好了|完成了|搞定|没事了|已完成|ありがとう|終わった|できた|完了|고마워|감사|됐어|끝났어|완료|ขอบคุณ|เสร็จแล้ว|จบ
""".strip()
"""Words that say that it is over: thanks, and that the work is done. A question with one of them asks how it stands."""

YES: Final = """
ok|okay|okey|k|kk|yes|yep|yeah|yup|y|sure|fine|well|so|and|then|ja|jawohl|und|na|oui|alors|et|bon|si|sí|ya|vale|bueno|sim
oi|beleza|e|va bene|allora|да|ок|ну|и|так|tamam|evet|hadi|نعم|تمام|اوكي|כן|אוקיי|हाँ|ठीक है|có|được|oke|tak|joo
好|好的|嗯|是|是的|对|可以|行|對|はい|お願いします|大丈夫|네|응|예|괜찮아|ครับ|ค่ะ|ใช่
""".strip()
"""Nudges that ask nothing: with a word of `THANKS` or `DONE` they say that it is over."""

ASKS: Final = "what|why"
"""Nudges that ask for something new when they come with a word of `THINGS`."""

RERUN: Final = "restart|rerun|run again"
"""Words of continuing that mean another thing when they come with a word of `THINGS`."""

THINGS: Final = """
process|response|answer|output|message|generation|connection|internet|network|execution|conversation|session|request
""".strip()

AGAIN: Final = """
again|encore|nochmal|noch einmal|erneut|otra vez|de nuevo|de novo|novamente|ancora|di nuovo|opnieuw|igen|igjen|uudestaan
ponownie|jeszcze raz|znovu|ujra|din nou|ещё раз|еще раз|снова|ще раз|знову|отново|ponovo|ξανα|tekrar|مرة أخرى|دوباره|שוב
फिर से|दोबारा|lagi|tena|muli
""".strip()
"""After thanks they ask for nothing: "thanks again"."""
