// Words and phrases without content, in the languages that users of agents write most.

function phrases(text: string): ReadonlySet<string> {
  return new Set(text.split(',').map((phrase) => phrase.trim()))
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' ').filter((word) => word !== ''))
}

/** Words of which a sentence of politeness may consist. */
export const polite = words(
  'hi hello hey hiya heya dear team there all everyone friend buddy again good morning afternoon evening day ' +
    'thanks thank thx ty cheers regards best kind warm sincerely greetings please pls plz kindly you your ' +
    "you're i i'm i'd i'll me my we us our could can would will may might help helping with something a an the " +
    'lot so much very many advance in let know when done are is am ready finished it this that hope hoping ' +
    'doing well having great nice lovely wonderful fine how today week bit little favour favor quick question ' +
    'appreciate appreciated be have for and of to if get back here one more hand grateful really sorry bother ' +
    'rush hurry welcome luck ' +
    'hallo guten tag morgen abend moin servus lieber liebe liebes bitte danke vielen dank schon schön schöne ' +
    'grüße gruesse gruß gruss viele mit freundlichen kannst könntest können könnten du sie mir helfen etwas ' +
    'sag bescheid wenn fertig bist ich brauche hilfe im voraus einen eine ' +
    'bonjour bonsoir salut merci beaucoup cordialement bonne journée vous pouvez pourriez m aider tu peux ' +
    "pourrais s'il te plaît plait svp stp d'avance avance à au ami " +
    'hola buenos buenas días dias tardes noches gracias muchas por favor puedes podrías podría ayudarme algo un ' +
    'saludos de antemano con ' +
    'olá ola oi bom dia boa tarde noite obrigado obrigada muito pode poderia ajudar ajudar-me abraço ' +
    'ciao salve buongiorno buonasera grazie mille molte per favore puoi potresti aiutarmi qualcosa cordiali saluti',
)

/** Words of which one at least makes such a sentence politeness. */
export const politeCues = words(
  'hi hello hey hiya heya dear morning afternoon evening thanks thank thx ty cheers regards sincerely greetings ' +
    'please pls plz kindly help hope hoping appreciate appreciated grateful sorry welcome hand know luck ' +
    'hallo guten tag moin servus bitte danke dank grüße gruesse gruß gruss helfen hilfe bescheid ' +
    'bonjour bonsoir salut merci cordialement aider svp stp ' +
    'hola buenos buenas gracias ayudarme saludos olá ola oi bom boa obrigado obrigada ajudar abraço ' +
    'ciao salve buongiorno buonasera grazie aiutarmi saluti',
)

/** Openings of a request that say nothing of it. */
export const openers = phrases(
  'hi,hello,hey,hiya,hi there,hello there,hey there,hi all,hi team,hello team,dear team,good morning,' +
    'good afternoon,good evening,please,pls,plz,kindly,could you,can you,would you,could you please,' +
    'can you please,would you please,will you please,would you kindly,would you mind,could you kindly,' +
    "i'd like you to,i would like you to,i want you to,i need you to,we need you to,we'd like you to," +
    'please could you,please can you,if you could,hey could you,could you help me,can you help me,could you maybe,' +
    'hallo,guten tag,guten morgen,bitte,kannst du,kannst du bitte,könntest du,könntest du bitte,können sie,' +
    'können sie bitte,könnten sie,könnten sie bitte,bonjour,bonsoir,salut,pourriez-vous,pouvez-vous,peux-tu,' +
    "pourrais-tu,s'il te plaît,s'il vous plaît,svp,hola,buenos días,buenas tardes,por favor,puedes,podrías,podría," +
    'olá,oi,bom dia,boa tarde,pode,poderia,ciao,salve,buongiorno,buonasera,per favore,puoi,potresti,potrebbe',
)

/** Openings by which an agent narrates its step. */
export const narration = phrases(
  "let me,let's,let us,now let me,let me now,let me first,now let's,i'll,i will,i'll now,i will now,i'll first," +
    "i'm going to,i am going to,i'm now going to,now i'll,now i will,now i'm going to,now i need to,next i'll," +
    "next i will,next i'm going to,next let me,then i'll,then i will,first i'll,first i will,first let me," +
    'so first,okay so first,ok so first,i need to,i now need to,i should,i should now,i have to,i want to,' +
    "we need to,we'll,we will,we should,i can now,now i can,i'd like to,time to,now it's time to,it's time to," +
    'okay so,ok so,okay,ok,alright,all right,great,perfect,good,hmm,right so,alright so,okay now,ok now,' +
    'so now,so next,my next step is to,the next step is to,next step is to,i am now,finally i will,' +
    "finally i'll,finally let me,so let me,so i'll,so i will,going to,gonna,i'm gonna," +
    'ich werde,ich werde jetzt,ich werde nun,jetzt werde ich,nun werde ich,als nächstes werde ich,zuerst werde ich,' +
    'lass mich,lassen sie mich,ich muss,ich will,jetzt muss ich,dann werde ich,' +
    'je vais,je vais maintenant,maintenant je vais,ensuite je vais,laissez-moi,laisse-moi,je dois,je dois maintenant,' +
    "d'abord je vais,voy a,ahora voy a,primero voy a,a continuación voy a,déjame,déjeme,tengo que,vamos a," +
    'vou,vou agora,agora vou,primeiro vou,em seguida vou,deixe-me,preciso,tenho que,vamos,' +
    'ora vado a,adesso,vado a,fammi,lasciami,devo,devo ora,ora devo,prima di tutto',
)

/** Words that open a sentence when a comma follows. */
export const softOpeners = words(
  'now next first then finally so also okay ok well right great good yes sure and lastly secondly afterwards ' +
    'jetzt nun zuerst dann danach also schließlich maintenant ensuite puis enfin ahora primero luego después ' +
    'agora primeiro depois então ora adesso poi infine prima hi hello hey thanks cheers sorry please danke bitte merci gracias ' +
    'grazie obrigado obrigada bedankt',
)
