package tamis.peers.vespa;

import com.yahoo.document.predicate.Predicate;
import com.yahoo.search.predicate.Hit;
import com.yahoo.search.predicate.PredicateIndex;
import com.yahoo.search.predicate.PredicateIndexBuilder;
import com.yahoo.search.predicate.PredicateQuery;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import tamis.peers.Content;
import tamis.peers.Peer;

/**
 * Vespa's predicate-search: equalities are features, ranges are range features.
 *
 * <p>A value equal to the lower bound of the index is not found by ranges, and 0 counts as negative there. All
 * numbers are therefore moved up, so that the least is 1 above a lower bound of 0; this changes no answer.
 */
public final class Adapter implements Peer<PredicateQuery, List<Hit>> {
    private static final int ARITY = 8;
    private final boolean[] compared;
    private final boolean[] ranged;
    private final int shift;
    private final PredicateIndexBuilder builder;
    private PredicateIndex index;
    private PredicateIndex.Searcher searcher;

    public Adapter(Content content) {
        this.compared = new boolean[content.attributes()];
        this.ranged = new boolean[content.attributes()];
        this.shift = 1 - content.lowest();
        this.builder = new PredicateIndexBuilder(ARITY, 0, content.highest() + shift + 1);
    }

    @Override
    public void add(int id, tamis.peers.Predicate[] predicates) {
        String text = Arrays.stream(predicates).map(this::text).collect(Collectors.joining(" and "));
        builder.indexDocument(id, Predicate.fromString(text));
    }

    private String text(tamis.peers.Predicate predicate) {
        int[] operands = Arrays.stream(predicate.operands()).map(value -> value + shift).toArray();
        boolean range = List.of("<=", ">=", "between").contains(predicate.operator());
        (range ? ranged : compared)[predicate.attribute()] = true;
        String values = Arrays.stream(operands).mapToObj(v -> "'" + v + "'").collect(Collectors.joining(", "));
        return predicate.name() + switch (predicate.operator()) {
            case "=", "in" -> " in [" + values + "]";
            case "!=" -> " not in [" + values + "]";
            case "<=" -> " in [.." + operands[0] + "]";
            case ">=" -> " in [" + operands[0] + "..]";
            default -> " in [" + operands[0] + ".." + operands[1] + "]";
        };
    }

    @Override
    public void ready() {
        index = builder.build();
        searcher = index.searcher();
    }

    /** Only what some subscription asks for: a feature that none uses would cost time for nothing. */
    @Override
    public PredicateQuery event(int[] values) {
        PredicateQuery query = new PredicateQuery();
        for (int at = 0; at < values.length; at++) {
            long value = values[at] + shift;
            if (compared[at]) {
                query.addFeature("a" + at, Long.toString(value));
            }
            if (ranged[at]) {
                query.addRangeFeature("a" + at, value);
            }
        }
        return query;
    }

    @Override
    public void warmed() {
        index.rebuildPostingListCache();
        searcher = index.searcher();
    }

    @Override
    public List<Hit> match(PredicateQuery event) {
        return searcher.search(event).toList();
    }

    @Override
    public int[] ids(List<Hit> answer) {
        return answer.stream().mapToInt(Hit::getDocId).toArray();
    }
}
