package tamis.peers.lucene;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field.Store;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.MatchingQueries;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.monitor.TermFilteredPresearcher;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import tamis.peers.Content;
import tamis.peers.Peer;
import tamis.peers.Predicate;

/** Lucene Monitor: equalities are terms, which its presearcher indexes; ranges are points, which it does not. */
public final class Adapter implements Peer<Document, MatchingQueries<QueryMatch>> {
    private static final int TOGETHER = 10_000;
    private final Content content;
    private final Monitor monitor;
    private final List<MonitorQuery> waiting = new ArrayList<>();

    public Adapter(Content content) throws Exception {
        this.content = content;
        this.monitor = new Monitor(new StandardAnalyzer(), new TermFilteredPresearcher());
    }

    @Override
    public void add(int id, Predicate[] predicates) throws Exception {
        BooleanQuery.Builder all = new BooleanQuery.Builder();
        boolean positive = false;
        for (Predicate predicate : predicates) {
            boolean negative = predicate.operator().equals("!=");
            all.add(query(predicate), negative ? Occur.MUST_NOT : Occur.FILTER);
            positive |= !negative;
        }
        if (!positive) {
            all.add(new MatchAllDocsQuery(), Occur.FILTER);
        }
        waiting.add(new MonitorQuery(Integer.toString(id), all.build()));
        if (waiting.size() == TOGETHER) {
            ready();
        }
    }

    private Query query(Predicate predicate) {
        return switch (predicate.operator()) {
            case "=", "!=" -> term(predicate, predicate.operands()[0]);
            case "in" -> {
                BooleanQuery.Builder any = new BooleanQuery.Builder();
                for (int value : predicate.operands()) {
                    any.add(term(predicate, value), Occur.SHOULD);
                }
                yield any.build();
            }
            default -> IntPoint.newRangeQuery(
                predicate.name() + "n", predicate.least(content.lowest()), predicate.greatest(content.highest()));
        };
    }

    private static Query term(Predicate predicate, int value) {
        return new TermQuery(new Term(predicate.name(), Integer.toString(value)));
    }

    @Override
    public void ready() throws Exception {
        monitor.register(waiting);
        waiting.clear();
    }

    @Override
    public Document event(int[] values) {
        Document document = new Document();
        for (int at = 0; at < values.length; at++) {
            document.add(new StringField("a" + at, Integer.toString(values[at]), Store.NO));
            document.add(new IntPoint("a" + at + "n", values[at]));
        }
        return document;
    }

    @Override
    public MatchingQueries<QueryMatch> match(Document event) throws Exception {
        return monitor.match(event, QueryMatch.SIMPLE_MATCHER);
    }

    @Override
    public int[] ids(MatchingQueries<QueryMatch> answer) {
        Collection<QueryMatch> matches = answer.getMatches();
        return matches.stream().mapToInt(match -> Integer.parseInt(match.getQueryId())).toArray();
    }
}
